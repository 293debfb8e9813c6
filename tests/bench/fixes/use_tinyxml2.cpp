/* SPDX-License-Identifier: MIT */
/* Prints and parses a document of 2,000 elements 120 times with tinyxml2. */
#include "tinyxml2.h"

int main()
{
        tinyxml2::XMLDocument document;
        tinyxml2::XMLElement *root = document.NewElement("root");
        int n = 0;

        document.InsertEndChild(root);
        for (int i = 0; i < 2000; i++) {
                tinyxml2::XMLElement *item = document.NewElement("item");

                item->SetAttribute("id", i);
                item->SetAttribute("name", "a name & more");
                item->InsertEndChild(document.NewText("some <text> here"));
                root->InsertEndChild(item);
        }
        for (int i = 0; i < 120; i++) {
                tinyxml2::XMLPrinter printer;
                tinyxml2::XMLDocument back;

                document.Print(&printer);
                back.Parse(printer.CStr());
                n += printer.CStrSize();
        }
        return n == 0;
}
