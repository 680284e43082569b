"""The seven tools by which an agent writes, starts and ends plugins, and looks at what there is."""
