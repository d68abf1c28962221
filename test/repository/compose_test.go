package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type compose struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Restart     string            `yaml:"restart"`
	Healthcheck struct {
		Test        []string `yaml:"test"`
		Interval    string   `yaml:"interval"`
		Timeout     string   `yaml:"timeout"`
		Retries     int      `yaml:"retries"`
		StartPeriod string   `yaml:"start_period"`
	} `yaml:"healthcheck"`
}

func readCompose(t *testing.T) (compose, string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(body, &c); err != nil {
		t.Fatal(err)
	}
	return c, string(body)
}

func TestComposePinsAndChecksEveryService(t *testing.T) {
	c, _ := readCompose(t)
	pinned := regexp.MustCompile(`^[a-z]+/[a-z-]+:v?\d+\.\d+\.\d+(\.\d+)?$`)
	for _, name := range []string{"kafka", "clickhouse", "qdrant"} {
		s, ok := c.Services[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q is not pinned to a full version", name, s.Image)
		}
		h := s.Healthcheck
		if len(h.Test) < 2 || h.Test[0] != "CMD" || h.Interval == "" || h.Timeout == "" || h.Retries == 0 || h.StartPeriod == "" {
			t.Errorf("%s: health check %+v is not complete", name, h)
		}
		if s.Restart != "unless-stopped" {
			t.Errorf("%s: restart is %q", name, s.Restart)
		}
		checkVolume(t, c, name, s)
	}
}

func checkVolume(t *testing.T, c compose, name string, s service) {
	t.Helper()
	if len(s.Volumes) == 0 {
		t.Errorf("%s keeps its data in no volume", name)
		return
	}
	volume, _, _ := strings.Cut(s.Volumes[0], ":")
	if _, ok := c.Volumes[volume]; !ok {
		t.Errorf("%s: volume %s is not declared", name, volume)
	}
}

func TestComposeHasNoDefaultSecretAndOpensNoPort(t *testing.T) {
	c, body := readCompose(t)
	for _, name := range []string{"SPADE_KAFKA_USER", "SPADE_KAFKA_PASSWORD", "SPADE_CLICKHOUSE_USER", "SPADE_CLICKHOUSE_PASSWORD", "SPADE_QDRANT_API_KEY"} {
		if !strings.Contains(body, "${"+name+":?") {
			t.Errorf("%s is not demanded", name)
		}
	}
	for name, s := range c.Services {
		for key, value := range s.Environment {
			secret := strings.Contains(key, "PASSWORD") || strings.Contains(key, "API_KEY") || strings.Contains(key, "JAAS")
			if secret && !strings.Contains(value, ":?") {
				t.Errorf("%s: %s has a value of its own", name, key)
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "${COMPOSE_PUBLISH:-127.0.0.1}:") {
				t.Errorf("%s publishes %s beyond the loopback interface", name, port)
			}
		}
	}
}

func TestComposeKafkaKeepsEverythingAndAsksForALogin(t *testing.T) {
	c, _ := readCompose(t)
	env := c.Services["kafka"].Environment
	for key, want := range map[string]string{
		"KAFKA_LOG_RETENTION_MS": "-1", "KAFKA_LOG_RETENTION_BYTES": "-1", "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
		"KAFKA_PROCESS_ROLES": "broker,controller",
	} {
		if env[key] != want {
			t.Errorf("%s is %q, want %q", key, env[key], want)
		}
	}
	if !strings.Contains(env["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"], "CLIENT:SASL_") {
		t.Error("clients need no login")
	}
	for listener := range strings.SplitSeq(env["KAFKA_LISTENERS"], ",") {
		if !strings.HasPrefix(listener, "CLIENT://") && !strings.Contains(listener, "://localhost:") {
			t.Errorf("%s can be reached from outside without a login", listener)
		}
	}
}
