package sqlguard

import "strings"

// tableFunctions are the ones that stay inside the database.
var tableFunctions = map[string]bool{
	"numbers": true, "numbers_mt": true, "zeros": true, "zeros_mt": true, "primes": true,
	"generateseries": true, "generate_series": true, "generaterandom": true, "values": true, "sqlstandardvalues": true,
	"null": true, "view": true, "viewifpermitted": true, "viewexplain": true, "format": true, "merge": true, "loop": true,
	"mergetreeindex": true, "mergetreeprojection": true, "mergetreetextindex": true, "fuzzjson": true, "fuzzquery": true,
}

// denied are functions, of tables and of values, that read files, reach the network or run programs. A table
// function is refused by this list wherever it stands; in FROM and JOIN only those above are let through at all.
var denied = map[string]bool{
	"file": true, "filesystem": true, "executable": true, "eval": true, "input": true, "python": true, "dictionary": true,
	"arrowstream": true, "arrowflight": true, "remote": true, "remotesecure": true, "cluster": true, "clusterallreplicas": true,
	"mysql": true, "postgresql": true, "mongodb": true, "redis": true, "sqlite": true, "odbc": true, "jdbc": true,
	"cosn": true, "oss": true, "gcs": true, "prometheusquery": true, "prometheusqueryrange": true, "ytsaurus": true,
	"catboostevaluate": true, "getclienthttpheader": true, "evalmlmethod": true,
	"addresstoline": true, "addresstolinewithinlines": true, "addresstosymbol": true,
	"readfile": true, "url": true, "urlcluster": true,
}

// deniedFamilies are the beginnings of names of which every member reads the host or the network.
var deniedFamilies = []string{
	"s3", "azure", "hdfs", "hudi", "iceberg", "deltalake", "paimon", "filecluster", "kafka", "nats", "rabbitmq",
	"aigenerate", "aiclassify", "aiextract", "aitranslate", "aiembed",
}

func allowedTableFunction(name string) bool { return tableFunctions[strings.ToLower(name)] }

func deniedCall(name string) bool {
	name = strings.ToLower(name)
	if denied[name] {
		return true
	}
	for _, family := range deniedFamilies {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return false
}
