// What Go makes of texts: lines of name, number of the text, and result in hexadecimal digits.
package main

import (
	"bufio"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"strconv"
	"text/template"
)

func marshal(s string) string {
	data, _ := json.Marshal(map[string]string{"a": s})
	return string(data)
}

func main() {
	encodings := map[string]func(string) string{
		"json.Marshal":     marshal,
		"json twice":       func(s string) string { return marshal(marshal(s)) },
		"QueryEscape":      url.QueryEscape,
		"PathEscape":       url.PathEscape,
		"Values":           func(s string) string { return url.Values{"p": {s}}.Encode() },
		"EscapeString":     html.EscapeString,
		"HTMLEscapeString": template.HTMLEscapeString,
		"JSEscapeString":   template.JSEscapeString,
		"Quote":            strconv.Quote,
		"QuoteToASCII":     strconv.QuoteToASCII,
		"%+v":              func(s string) string { return fmt.Sprintf("%+v", []string{s}) },
		"%#v":              func(s string) string { return fmt.Sprintf("%#v", []string{s}) },
		"%x":               func(s string) string { return fmt.Sprintf("%x", s) },
		"%X":               func(s string) string { return fmt.Sprintf("%X", s) },
		"StdEncoding":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"RawURLEncoding":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base32":           func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	}
	lines := bufio.NewScanner(os.Stdin)
	for number := 0; lines.Scan(); number++ {
		given, _ := hex.DecodeString(lines.Text())
		for name, encode := range encodings {
			fmt.Printf("%s\t%d\t%s\n", name, number, hex.EncodeToString([]byte(encode(string(given)))))
		}
	}
}
