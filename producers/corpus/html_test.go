package corpus

import (
	"testing"
	"unicode/utf8"
)

func TestHTMLText(t *testing.T) {
	tests := []struct{ name, page, title, text string }{
		{
			"page", "<!doctype html><html><head><title> A &amp; B </title><style>p{}</style></head>" +
				"<body><h1>Head</h1><p>One <b>two</b>\n three.</p><p>Four.</p></body></html>",
			" A & B ", "# Head\n\nOne two three.\n\nFour.",
		},
		{"script and navigation are left out", "<nav><ul><li>Home</ul></nav><script>var x = '<p>no</p>'</script><p>yes</p><noscript>no</noscript>", "", "yes"},
		{"nested elements that are left out", "<svg><svg>no</svg>no</svg>yes", "", "yes"},
		{"bullets", "<ul><li>one<li>two<ul><li>deep</li></ul></li><li>three</li></ul>after", "", "- one\n- two\n  - deep\n\n- three\n\nafter"},
		{"numbers", "<ol><li><p>one</p></li><li>two</li></ol>", "", "1. one\n\n2. two"},
		{"item without list", "<li>a<li>b", "", "- a\n- b"},
		{"table", "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td></td><td><p>3</p></td></tr><tr><td><p>4</p><td>5</tr></table>", "", "a | b\n1 |  | 3\n4 | 5"},
		{"preformatted", "<p>x<pre>a\n  b &lt;c&gt;</pre>y", "", "x\n\na\n  b <c>\n\ny"},
		{"line break", "one<br>two<br/>three", "", "one\ntwo\nthree"},
		{"entities", "5 &gt; 3 &eacute; &#x20AC;", "", "5 > 3 é €"},
		{"inline joins", "a<b>b</b>c <i> d</i>", "", "abc d"},
		{"comments", "a<!-- no -->b", "", "ab"},
		{"unclosed", "<p>one<div>two<h2>three", "", "one\ntwo\n\n## three"},
		{"nothing", "<html><body><script>x</script></body></html>", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, text, err := htmlText([]byte(tt.page))
			if err != nil {
				t.Fatal(err)
			}
			if title != tt.title || text != tt.text {
				t.Errorf("got title %q text %q, want %q and %q", title, text, tt.title, tt.text)
			}
		})
	}
}

func TestReadHTMLEncodings(t *testing.T) {
	dir := tree(t, map[string]string{
		"a-latin1.html": "<meta charset=\"iso-8859-1\"><title>Caf\xe9</title><p>Caf\xe9 au lait.</p>",
		"b-utf16.html":  "\xff\xfe<\x00p\x00>\x00h\x00i\x00",
		"a-utf8.html":   "<meta charset=utf-8><p>caf\xe9</p>",
		"c-none.html":   "<p>caf\xe9</p>",
		"d-empty.html":  "<script>x</script>",
		"e-binary.html": "<p>\x00</p>",
		"f-title.html":  "<title> </title><p>x<h2>Heading</h2>",
	})
	log, sum := add(t, dir)
	docs := log.documents()
	if len(docs) != 3 || docs[2].Title != "Heading" || docs[0].Title != "Café" || docs[0].Text != "Café au lait." || docs[1].Text != "hi" {
		t.Errorf("documents: %v", docs)
	}
	var got []string
	for _, p := range sum.Problems {
		got = append(got, p.Error())
	}
	want := []string{
		"a-utf8.html: not valid UTF-8: and it declares no other encoding",
		"c-none.html: not valid UTF-8: and it declares no other encoding",
		"d-empty.html: holds no text",
		"e-binary.html: binary, not text: it has a zero byte",
	}
	if len(got) != len(want) {
		t.Fatalf("problems %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("problem %q, want %q", got[i], want[i])
		}
	}
}

func FuzzHTMLText(f *testing.F) {
	f.Add([]byte("<title>t</title><ol><li>a<li>b</ol><pre>x</pre><table><tr><td>1<td>2"))
	f.Add([]byte("<nav><nav></nav><h9><h1 <p></ul></ol></pre>&#xD800;&#0;"))
	f.Fuzz(func(t *testing.T, page []byte) {
		data, p := decodeHTML("page.html", page)
		if p != nil {
			return
		}
		title, text, err := htmlText(data)
		if err != nil {
			return
		}
		if !utf8.ValidString(title) || !utf8.ValidString(text) {
			t.Fatalf("not UTF-8: %q %q", title, text)
		}
		if normalise(text) != text {
			t.Fatalf("not normalised: %q", text)
		}
	})
}
