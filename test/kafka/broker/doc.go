// Package broker starts Apache Kafka's own broker on the loopback interface: a cluster of one or more nodes on the JVM, from
// the jars that test/kafka/pom.xml names. Tests kill, stop and restart its nodes.
//
// Begin at New. Every node has four listeners for clients: without a login (who comes there may do everything), with SASL,
// with SASL over TLS, and with client certificates. An authorizer holds every user but the superuser to its ACLs.
package broker
