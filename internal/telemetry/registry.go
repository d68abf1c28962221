package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed256f7767/spade/internal/observe"
)

// Sampler tells the values of now. It is called for every scrape and must not block.
type Sampler func(Sample)

// Sample takes values. Two values of the same name and labels are joined, see Metric.
type Sample interface {
	Value(name string, v float64, labels ...string)
	Distribution(name string, d observe.Distribution, labels ...string)
}

// registry is the catalogue filled in by samplers.
type registry struct {
	metrics map[string]Metric
	descs   map[string]*prometheus.Desc

	mu       sync.Mutex // guards the following
	samplers []Sampler
}

var _ prometheus.Collector = (*registry)(nil)

func newRegistry() *registry {
	r := &registry{metrics: map[string]Metric{}, descs: map[string]*prometheus.Desc{}}
	for _, m := range Catalogue() {
		r.metrics[m.Name] = m
		r.descs[m.Name] = prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)
	}
	return r
}

func (r *registry) add(s Sampler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samplers = append(r.samplers, s)
}

// sample asks every sampler.
func (r *registry) sample() *values {
	r.mu.Lock()
	samplers := slices.Clone(r.samplers)
	r.mu.Unlock()
	v := &values{metrics: r.metrics, by: map[string]*value{}}
	for _, s := range samplers {
		s(v)
	}
	return v
}

// Describe names the metrics of the catalogue.
func (r *registry) Describe(out chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		out <- d
	}
}

// Collect asks the samplers.
func (r *registry) Collect(out chan<- prometheus.Metric) {
	v := r.sample()
	for _, one := range v.by {
		out <- r.metric(one)
	}
	for _, err := range v.errs {
		out <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
	}
}

func (r *registry) metric(v *value) prometheus.Metric {
	desc := r.descs[v.metric.Name]
	var m prometheus.Metric
	var err error
	switch v.metric.Kind {
	case Histogram:
		m, err = prometheus.NewConstHistogram(desc, v.dist.Count, v.dist.Sum, v.dist.Buckets, v.labels...)
	case Counter:
		m, err = prometheus.NewConstMetric(desc, prometheus.CounterValue, v.number, v.labels...)
	default:
		m, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, v.number, v.labels...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

// values are what samplers told at one moment.
type values struct {
	metrics map[string]Metric
	by      map[string]*value
	errs    []error
}

type value struct {
	metric Metric
	labels []string
	number float64
	dist   observe.Distribution
}

// Value takes a number.
func (v *values) Value(name string, n float64, labels ...string) {
	one, fresh := v.of(name, labels)
	switch {
	case one == nil:
	case fresh:
		one.number = n
	case one.metric.Max:
		one.number = max(one.number, n)
	default:
		one.number += n
	}
}

// Distribution takes what a histogram holds.
func (v *values) Distribution(name string, d observe.Distribution, labels ...string) {
	if one, _ := v.of(name, labels); one != nil {
		one.dist = one.dist.Add(d)
	}
}

// of finds the value of a name and its labels. Nil: the catalogue lacks it.
func (v *values) of(name string, labels []string) (one *value, fresh bool) {
	m, ok := v.metrics[name]
	if !ok || len(m.Labels) != len(labels) {
		v.errs = append(v.errs, fmt.Errorf("the catalogue has no metric %s with %d labels", name, len(labels)))
		return nil, false
	}
	clean := make([]string, len(labels))
	for i, l := range labels {
		clean[i] = bounded(l)
	}
	key := name + "\x00" + strings.Join(clean, "\x00")
	if one = v.by[key]; one != nil {
		return one, false
	}
	one = &value{metric: m, labels: clean}
	v.by[key] = one
	return one, true
}

// maxLabel bounds a label in bytes: names of runs are users' texts.
const maxLabel = 128

// bounded is a label that Prometheus takes: UTF-8 and not too long.
func bounded(label string) string {
	label = strings.ToValidUTF8(label, "\uFFFD")
	for len(label) > maxLabel {
		_, size := utf8.DecodeLastRuneInString(label)
		label = label[:len(label)-size]
	}
	return label
}

// idle are the counters that also grow where nothing gets on: by trying again, by looking, by telling.
func idle() []string {
	return []string{LogFetched, LogFetchedBytes, LogStalls, LogRetries, LogRebalances, WarehouseRetries, TraceSpans}
}

// activity changes with every piece of work that was done.
func (v *values) activity() float64 {
	sum := 0.0
	for _, one := range v.by {
		switch {
		case slices.Contains(idle(), one.metric.Name):
		case one.metric.Kind == Counter:
			sum += one.number
		case one.metric.Kind == Histogram:
			sum += float64(one.dist.Count)
		}
	}
	return sum
}
