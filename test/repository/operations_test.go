package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/telemetry"
)

// alert is one rule of deploy/prometheus/rules.yml.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func read(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func alerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/rules.yml")), &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 20 {
		t.Fatalf("%d alerts found", len(all))
	}
	return all
}

// section is the text of a page below a heading of the third level.
func section(page, heading string) string {
	_, after, found := strings.Cut(page, "\n### "+heading+"\n")
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(after, "\n#")
	return text
}

func TestEveryAlertHasItsRunbook(t *testing.T) {
	page := read(t, "docs/operations.md")
	for _, a := range alerts(t) {
		text := section(page, a.Alert)
		if len(text) < 100 || !strings.Contains(text, "- Look at: ") || !strings.Contains(text, "- Do: ") {
			t.Errorf("%s: docs/operations.md does not say what it means, what to look at and what to do", a.Alert)
		}
		if want := "docs/operations.md#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want {
			t.Errorf("%s: its runbook is %q, want %q", a.Alert, a.Annotations["runbook"], want)
		}
		if a.Annotations["summary"] == "" || !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s has no summary or no severity", a.Alert)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Spade\w+)$`).FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(alerts(t), func(a alert) bool { return a.Alert == heading[1] }) {
			t.Errorf("docs/operations.md has a runbook for %s, which is no alert", heading[1])
		}
	}
}

func TestEveryAlertIsSeenFiring(t *testing.T) {
	var file struct {
		Tests []struct {
			Alerts []struct {
				Name string `yaml:"alertname"`
				Fire []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/prometheus/rules_test.yml")), &file); err != nil {
		t.Fatal(err)
	}
	fires := map[string]bool{}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			fires[a.Name] = fires[a.Name] || len(a.Fire) > 0
		}
	}
	for _, a := range alerts(t) {
		if !fires[a.Alert] {
			t.Errorf("no test has %s fire", a.Alert)
		}
	}
}

func TestAlertsReadMetricsThatThereAre(t *testing.T) {
	there := map[string]bool{}
	for _, m := range telemetry.Catalogue() {
		if m.Kind != telemetry.Histogram {
			there[m.Name] = true
			continue
		}
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			there[m.Name+part] = true
		}
	}
	for _, a := range alerts(t) {
		names := regexp.MustCompile(`spade_\w+`).FindAllString(a.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s reads no metric", a.Alert)
		}
		for _, name := range names {
			if !there[name] {
				t.Errorf("%s reads %s, which nothing tells", a.Alert, name)
			}
		}
	}
}

func TestTheMetricsArePrintedAsTheyAre(t *testing.T) {
	var want []string
	for _, m := range telemetry.Catalogue() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", m.Name, m.Kind, strings.Join(m.Labels, ", "), m.Help))
	}
	var got []string
	for line := range strings.Lines(read(t, "docs/operations.md")) {
		if strings.HasPrefix(line, "| `spade_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table of docs/operations.md is not the catalogue, which is:\n%s", strings.Join(want, "\n"))
	}
}

// manifest is what is looked at of an object of Kubernetes.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args []string
					Env  []struct {
						Name, Value string
					}
					Live  map[string]any `yaml:"livenessProbe"`
					Ready map[string]any `yaml:"readinessProbe"`
				}
			}
		}
	}
}

func manifests(t *testing.T, name string) []manifest {
	t.Helper()
	var all []manifest
	decoder := yaml.NewDecoder(strings.NewReader(read(t, name)))
	for {
		var m manifest
		if err := decoder.Decode(&m); err != nil {
			break
		}
		if m.Kind != "" {
			all = append(all, m)
		}
	}
	return all
}

func TestTheClustersSettingsAreSettings(t *testing.T) {
	drain := 0
	for _, m := range manifests(t, "deploy/kubernetes/config.yaml") {
		if m.Kind != "ConfigMap" {
			continue
		}
		file := filepath.Join(t.TempDir(), "spade.yaml")
		if err := os.WriteFile(file, []byte(m.Data["spade.yaml"]), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Sources{File: file, Environ: []string{
			"SPADE_KAFKA_USER=u", "SPADE_KAFKA_PASSWORD=p", "SPADE_S3_ACCESS_KEY=k", "SPADE_S3_SECRET_KEY=s",
		}})
		if err != nil {
			t.Fatal(err)
		}
		drain = l.Drain
	}
	if drain == 0 {
		t.Fatal("no settings found")
	}
	roles := 0
	for _, m := range manifests(t, "deploy/kubernetes/workers.yaml") {
		spec := m.Spec.Template.Spec
		if spec.Grace <= drain+10 {
			t.Errorf("%s gets %d s to end, its drain alone takes %d s", m.Metadata.Name, spec.Grace, drain)
		}
		for _, c := range spec.Containers {
			if len(c.Args) < 2 || c.Args[0] != "worker" || "spade-"+c.Args[1] != m.Metadata.Name {
				t.Errorf("%s runs %q", m.Metadata.Name, c.Args)
			}
			if c.Live == nil || c.Ready == nil {
				t.Errorf("%s is not probed", m.Metadata.Name)
			}
			for _, e := range c.Env {
				if e.Value != "" {
					t.Errorf("%s has the value of %s written out", m.Metadata.Name, e.Name)
				}
			}
			roles++
		}
	}
	if roles != 7 {
		t.Errorf("%d roles are deployed, there are 7", roles)
	}
}
