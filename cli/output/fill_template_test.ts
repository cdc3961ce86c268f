import { assertEquals, assertThrows } from "@std/assert";
import { fillTemplate } from "./fill_template.ts";

Deno.test("a template's values, conditions and lists are filled in", () => {
  const text = `a {{x}}
{{#on}}
on {{x}}
{{/on}}
{{^on}}
off
{{/on}}
{{#list}}
- {{name}} {{x}}
{{#more}}
  {{name}}
{{/more}}
{{/list}}
{{^absent}}
none
{{/absent}}
`;
  const list = [{ name: "n", more: [{ name: "m" }] }, { name: "o", more: [] }];
  assertEquals(
    fillTemplate(text, { x: 1, on: true, list }),
    "a 1\non 1\n- n 1\n  m\n- o 1\nnone\n",
  );
  assertEquals(
    fillTemplate(text, { x: "y", on: false, list: [] }),
    "a y\noff\nnone\n",
  );
});

Deno.test("a value is text: neither a tag nor a pattern in it is filled in", () => {
  const x = "{{y}} $& $1\n{{#on}}\n";
  assertEquals(fillTemplate("{{x}}", { x, y: "no", on: true }), x);
});

Deno.test("a name without a value is a fault of the template", () => {
  assertThrows(() => fillTemplate("{{x}}", {}), TypeError, "no value for x");
});
