package portable

// returnsText and returnsTexts are the functions whose result is a text, or a list of texts.
func returnsText() []string {
	return []string{
		"text.slice", "text.replace", "text.join", "text.strip", "text.lower", "text.upper", "text.reverse", "text.repeat",
		"text.normalize", "text.pad_left", "text.pad_right", "text.str", "text.format", "text.fixed", "text.chr", "json.encode", "json.kind",
	}
}

func returnsTexts() []string { return []string{"text.chars", "text.split", "text.words", "text.lines"} }

// builtins are the built-in functions that mean the same in both languages, each with the keywords it may be given.
func builtins() map[string][]string {
	return map[string][]string{
		"None": nil, "True": nil, "False": nil,
		"abs": nil, "any": nil, "all": nil, "bool": nil, "dict": {"*"}, "enumerate": nil, "len": nil, "list": nil,
		"max": {"key"}, "min": {"key"}, "range": nil, "sorted": {"key", "reverse"}, "tuple": nil, "zip": nil,
	}
}

// lazy are the functions and methods that give a list in Starlark and something to go through once in Python. They may
// stand only where they are gone through at once.
func lazy() []string { return []string{"enumerate", "zip", "range", "keys", "values", "items"} }

// consumers are the functions that go through their arguments at once.
func consumers() []string {
	return []string{"list", "tuple", "sorted", "dict", "any", "all", "min", "max", "zip", "enumerate", "len"}
}

// methods are the methods of lists and dictionaries that mean the same in both languages.
func methods() []string {
	return []string{
		"append", "extend", "insert", "pop", "remove", "clear", "index",
		"get", "keys", "values", "items", "setdefault", "update",
	}
}

// instead says what to write in place of a name that is not the same in both languages.
func instead(name string) string {
	advice := map[string]string{
		"str": "text.str", "repr": "json.encode", "int": "text.int or math.trunc", "float": "text.float or math.float",
		"sum": "math.sum", "round": "math.round", "pow": "math.pow", "divmod": "math.div and math.mod", "set": "a dict",
		"reversed": "a slice [::-1]", "chr": "text.chr", "ord": "text.ord", "hash": "json.encode", "print": "nothing",
		"fail": "an outcome in the state", "type": "json.kind", "isinstance": "json.kind",
		"hasattr": "a key in a dict", "getattr": "a key in a dict", "dir": "a key in a dict", "bytes": "a text",
		"map": "a comprehension", "filter": "a comprehension", "format": "text.format", "object": "a dict",
		"join": "text.join", "split": "text.split", "strip": "text.strip", "lower": "text.lower", "upper": "text.upper",
		"startswith": "text.starts_with", "endswith": "text.ends_with", "replace": "text.replace", "find": "text.find",
		"count": "text.count or a comprehension", "elems": "text.chars", "splitlines": "text.lines", "title": "text.upper",
		"popitem": "pop with a key", "sort": "sorted", "reverse": "a slice [::-1]", "copy": "list(…) or dict(…)",
	}
	if to, ok := advice[name]; ok {
		return "; use " + to
	}
	return ""
}
