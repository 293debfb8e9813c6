// SPDX-License-Identifier: MIT

// Gives golang.org/x/net's HPACK decoder a long field one byte at a time, and then encodes 20,000 fields.
package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
)

func main() {
	long := strings.Repeat("abcdefghij", 450)
	var field, fields bytes.Buffer
	encoder := hpack.NewEncoder(&field)
	encoder.SetMaxDynamicTableSize(0)
	encoder.WriteField(hpack.HeaderField{Name: long, Value: long, Sensitive: true})
	n := 0
	for i := 0; i < 10; i++ {
		decoder := hpack.NewDecoder(4096, func(f hpack.HeaderField) { n += len(f.Value) })
		for at := 0; at < field.Len(); at++ {
			if _, err := decoder.Write(field.Bytes()[at : at+1]); err != nil {
				panic(err)
			}
		}
	}
	encoder = hpack.NewEncoder(&fields)
	for i := 0; i < 20000; i++ {
		fields.Reset()
		encoder.WriteField(hpack.HeaderField{Name: "x-" + strconv.Itoa(i%50), Value: "value " + strconv.Itoa(i)})
		n += fields.Len()
	}
	fmt.Println(n)
}
