package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/schemas/topics"
)

const (
	settingPartitions = "partitions"
	settingMaxBytes   = "max.message.bytes"
)

// topicInfo is what appending and reading need to know of a topic.
type topicInfo struct {
	partitions []int // 0 … n-1
	maxBytes   int   // max.message.bytes: of a whole batch
}

// EnsureTopics creates the topics that are missing and checks the others. A
// topic that differs in any setting or in its partition count is a
// *MismatchError that names every difference; nothing is altered.
func (c *Client) EnsureTopics(ctx context.Context, want []topics.Topic) error {
	return c.retry(ctx, "ensure topics", func(ctx context.Context) error {
		have, err := c.describe(ctx, names(want), settingNames(want))
		if err != nil {
			return err
		}
		var missing []topics.Topic
		for _, t := range want {
			if _, ok := have[t.Name]; !ok {
				missing = append(missing, t)
			}
		}
		if len(missing) > 0 {
			if err := c.create(ctx, missing); err != nil {
				return err
			}
			if have, err = c.describe(ctx, names(want), settingNames(want)); err != nil {
				return err
			}
		}
		return compare(want, have)
	})
}

func names(ts []topics.Topic) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.Name
	}
	return out
}

func settingNames(ts []topics.Topic) []string {
	all := map[string]bool{settingMaxBytes: true}
	for _, t := range ts {
		for name := range t.Settings {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// create asks for topics. One that another process created meanwhile is fine.
func (c *Client) create(ctx context.Context, ts []topics.Topic) error {
	req := &kafka.CreateTopicsRequest{}
	for _, t := range ts {
		tc := kafka.TopicConfig{Topic: c.onWire(t.Name), NumPartitions: t.Partitions, ReplicationFactor: c.cfg.Replication}
		for _, name := range slices.Sorted(maps.Keys(t.Settings)) {
			tc.ConfigEntries = append(tc.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: t.Settings[name]})
		}
		req.Topics = append(req.Topics, tc)
	}
	res, err := c.kafka.CreateTopics(ctx, req)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names(ts) {
		if err := res.Errors[c.onWire(name)]; err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			errs = append(errs, fmt.Errorf("create topic %s: %w", name, err))
		}
	}
	c.transport.CloseIdleConnections() // so that the next metadata shows the new topics
	return errors.Join(errs...)
}

// described is a topic as the cluster has it.
type described struct {
	partitions int
	settings   map[string]string
}

// describe reads the topics that exist.
func (c *Client) describe(ctx context.Context, topicNames, settings []string) (map[string]described, error) {
	meta, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{Topics: c.allOnWire(topicNames)})
	if err != nil {
		return nil, err
	}
	have := map[string]described{}
	req := &kafka.DescribeConfigsRequest{}
	for _, t := range meta.Topics {
		if errors.Is(t.Error, kafka.UnknownTopicOrPartition) {
			continue
		}
		if t.Error != nil {
			return nil, fmt.Errorf("topic %s: %w", c.offWire(t.Name), t.Error)
		}
		have[c.offWire(t.Name)] = described{partitions: len(t.Partitions), settings: map[string]string{}}
		req.Resources = append(req.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: t.Name, ConfigNames: settings,
		})
	}
	if len(req.Resources) == 0 {
		return have, nil
	}
	res, err := c.kafka.DescribeConfigs(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, r := range res.Resources {
		name := c.offWire(r.ResourceName)
		if r.Error != nil {
			return nil, fmt.Errorf("settings of topic %s: %w", name, r.Error)
		}
		for _, e := range r.ConfigEntries {
			have[name].settings[e.ConfigName] = e.ConfigValue
		}
	}
	return have, nil
}

func compare(want []topics.Topic, have map[string]described) error {
	var diffs []Difference
	for _, t := range want {
		got, ok := have[t.Name]
		if !ok {
			return fmt.Errorf("topic %s was created and is not there yet: %w", t.Name, kafka.UnknownTopicOrPartition)
		}
		if got.partitions != t.Partitions {
			diffs = append(diffs, Difference{t.Name, settingPartitions, strconv.Itoa(t.Partitions), strconv.Itoa(got.partitions)})
		}
		for _, name := range slices.Sorted(maps.Keys(t.Settings)) {
			if got.settings[name] != t.Settings[name] {
				diffs = append(diffs, Difference{t.Name, name, t.Settings[name], got.settings[name]})
			}
		}
	}
	if len(diffs) > 0 {
		return &MismatchError{Differences: diffs}
	}
	return nil
}

// topic returns what is known of a topic, asking the cluster the first time.
// A topic that does not exist is ErrNoTopic after a few tries: another process
// may just be creating it.
func (c *Client) topic(ctx context.Context, name string) (topicInfo, error) {
	c.mu.Lock()
	info, ok := c.known[name]
	c.mu.Unlock()
	if ok {
		return info, nil
	}
	tries := 0
	err := c.retry(ctx, "look up topic "+name, func(ctx context.Context) error {
		have, err := c.describe(ctx, []string{name}, []string{settingMaxBytes})
		if err != nil {
			return err
		}
		d, ok := have[name]
		if !ok {
			if tries++; tries < 5 {
				return kafka.UnknownTopicOrPartition
			}
			return fmt.Errorf("%w; EnsureTopics creates it", ErrNoTopic)
		}
		info, err = d.info()
		return err
	})
	if err != nil {
		return topicInfo{}, err
	}
	c.mu.Lock()
	c.known[name] = info
	c.mu.Unlock()
	return info, nil
}

func (d described) info() (topicInfo, error) {
	info := topicInfo{partitions: make([]int, d.partitions)}
	for i := range info.partitions {
		info.partitions[i] = i
	}
	var err error
	if info.maxBytes, err = strconv.Atoi(d.settings[settingMaxBytes]); err != nil {
		return topicInfo{}, fmt.Errorf("setting %s: %w", settingMaxBytes, err)
	}
	return info, nil
}
