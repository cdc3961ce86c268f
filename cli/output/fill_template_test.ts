import { assertEquals, assertThrows } from "@std/assert";
import { fillTemplate } from "./fill_template.ts";

Deno.test("fills in values, conditions and lists", () => {
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

Deno.test("tags and replacement patterns in a value have no effect", () => {
  const x = "{{y}} $& $1\n{{#on}}\n";
  assertEquals(fillTemplate("{{x}}", { x, y: "no", on: true }), x);
});

Deno.test("throws for a name without a value", () => {
  assertThrows(() => fillTemplate("{{x}}", {}), TypeError, "no value for x");
});
