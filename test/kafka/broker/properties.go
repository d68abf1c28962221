package broker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Listener is one way in.
type Listener string

// The listeners of a node.
const (
	Plain      Listener = "OPEN" // no login, no TLS; brokers talk to each other there as well
	SASL       Listener = "LOGIN"
	SASLTLS    Listener = "LOGINTLS"
	MutualTLS  Listener = "CERT"
	controller Listener = "CONTROLLER"
)

// listeners are those of a cluster, with the protocol of each.
func (c Config) listeners() ([]Listener, map[Listener]string) {
	protocols := map[Listener]string{Plain: "PLAINTEXT", SASL: "SASL_PLAINTEXT", controller: "PLAINTEXT"}
	order := []Listener{Plain, SASL, controller}
	if c.TLS.KeyStore != "" {
		protocols[SASLTLS], protocols[MutualTLS] = "SASL_SSL", "SSL"
		order = append(order, SASLTLS, MutualTLS)
	}
	return order, protocols
}

// properties is the server.properties of a node.
func (c *Cluster) properties(n *Node) map[string]string {
	order, protocols := c.cfg.listeners()
	var listen, advertised, protocolMap, voters []string
	for _, l := range order {
		at := string(l) + "://" + n.addrs[l]
		listen = append(listen, at)
		protocolMap = append(protocolMap, string(l)+":"+protocols[l])
		if l != controller {
			advertised = append(advertised, at)
		}
	}
	for _, other := range c.Nodes {
		voters = append(voters, fmt.Sprintf("%d@%s", other.ID, other.addrs[controller]))
	}
	replicas := fmt.Sprint(min(3, len(c.Nodes)))
	p := map[string]string{
		"process.roles": "broker,controller", "node.id": fmt.Sprint(n.ID), "log.dirs": filepath.Join(n.dir, logDir),
		"listeners": strings.Join(listen, ","), "advertised.listeners": strings.Join(advertised, ","),
		"listener.security.protocol.map": strings.Join(protocolMap, ","),
		"controller.quorum.voters":       strings.Join(voters, ","),
		"controller.listener.names":      string(controller), "inter.broker.listener.name": string(Plain),
		"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"authorizer.class.name":   "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":             "User:ANONYMOUS;User:" + Superuser,

		"allow.everyone.if.no.acl.found": fmt.Sprint(c.cfg.AllowAll), "auto.create.topics.enable": "false",
		"default.replication.factor": replicas, "offsets.topic.replication.factor": replicas,
		"transaction.state.log.replication.factor": replicas,
		"min.insync.replicas":                      fmt.Sprint(max(1, min(3, len(c.Nodes))-1)),
		"offsets.topic.num.partitions":             "4",
	}
	maps.Copy(p, quick())
	maps.Copy(p, c.logins())
	maps.Copy(p, c.certificates())
	maps.Copy(p, c.cfg.Properties)
	return p
}

// logDir is the folder of a node's log in its own.
const logDir = "log"

// quick are times and sizes for tests: a member or a broker that is gone is noticed in seconds, and a node takes little memory.
func quick() map[string]string {
	return map[string]string{
		"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
		"broker.heartbeat.interval.ms": "500", "broker.session.timeout.ms": "3000",
		"controller.quorum.election.timeout.ms": "500", "controller.quorum.fetch.timeout.ms": "1500",
		"replica.lag.time.max.ms": "3000", "connections.max.idle.ms": "600000",
		"num.network.threads": "2", "num.io.threads": "2", "background.threads": "2",
		"log.cleaner.threads": "1", "log.cleaner.dedupe.buffer.size": "4194304",
		// Chaos sets the clocks of workers ahead; a broker's default refuses records of more than an hour from now.
		"log.message.timestamp.after.max.ms": "9223372036854775807",
		"controlled.shutdown.enable":         "true", "num.recovery.threads.per.data.dir": "2",
	}
}

// logins are the SASL users of PLAIN; those of SCRAM are in the log of the cluster.
func (c *Cluster) logins() map[string]string {
	users := ""
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Users)) {
		users += fmt.Sprintf(" user_%s=%q", name, c.cfg.Users[name])
	}
	p := map[string]string{}
	for _, l := range []Listener{SASL, SASLTLS} {
		prefix := "listener.name." + strings.ToLower(string(l)) + "."
		p[prefix+"plain.sasl.jaas.config"] = "org.apache.kafka.common.security.plain.PlainLoginModule required" + users + ";"
		for _, m := range []string{"scram-sha-256", "scram-sha-512"} {
			p[prefix+m+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
		}
	}
	return p
}

func (c *Cluster) certificates() map[string]string {
	if c.cfg.TLS.KeyStore == "" {
		return nil
	}
	return map[string]string{
		"ssl.keystore.type": "PEM", "ssl.keystore.location": c.cfg.TLS.KeyStore,
		"ssl.truststore.type": "PEM", "ssl.truststore.location": c.cfg.TLS.CA,
		"listener.name." + strings.ToLower(string(MutualTLS)) + ".ssl.client.auth": "required",
	}
}

func (n *Node) writeProperties(p map[string]string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", name, p[name])
	}
	return os.WriteFile(n.propertiesFile(), []byte(b.String()), 0o600)
}

func (n *Node) propertiesFile() string { return filepath.Join(n.dir, "server.properties") }
