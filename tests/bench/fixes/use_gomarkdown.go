// SPDX-License-Identifier: MIT

// Renders 500 lists and paragraphs with gomarkdown.
package main

import (
	"fmt"
	"strings"

	"github.com/gomarkdown/markdown"
)

func main() {
	text := strings.Repeat("- a\n  - a1\n  - a2\n- b\n- c\n\nparagraph of *some* text\n\n", 500)
	fmt.Println(len(markdown.ToHTML([]byte(text), nil, nil)))
}
