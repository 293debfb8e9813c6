#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds a document of 6,000 elements, each within the one before, with xml.dom.minidom of Python 3.11."""
from xml.dom import minidom

document = minidom.Document()
element = document.createElement("element")
document.appendChild(element)
for _ in range(6000):
    child = document.createElement("element")
    element.appendChild(child)
    element = child
