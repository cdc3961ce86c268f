import { assertEquals, assertThrows } from "@std/assert";
import { object } from "../requests/object.ts";
import { text } from "../requests/scalars.ts";
import { Component, later, named } from "../requests/schema.ts";
import { ComponentList } from "./component_list.ts";

Deno.test("what a schema refers to is listed, in the order in which it is met", () => {
  const inner = new Component("Inner", { type: "string" });
  const outer = new Component("Outer", { anyOf: [inner, { type: "null" }] });
  const list = new ComponentList();
  assertEquals(
    list.plain({ type: "array", items: outer, examples: [{ $ref: "x" }] }),
    {
      type: "array",
      items: { $ref: "#/components/schemas/Outer" },
      examples: [{ $ref: "x" }],
    },
  );
  assertEquals(Object.entries(list.schemas), [
    ["Outer", {
      anyOf: [{ $ref: "#/components/schemas/Inner" }, { type: "null" }],
    }],
    ["Inner", { type: "string" }],
  ]);
});

Deno.test("one name is one schema's", () => {
  const list = new ComponentList();
  list.plain(new Component("Same", {}));
  assertThrows(
    () => list.plain(new Component("Same", {})),
    TypeError,
    "Cannot list two schemas by the name Same",
  );
  const schema = named("One", text());
  assertThrows(
    () => named("Two", schema),
    TypeError,
    "Cannot name Two: it is named One",
  );
});

Deno.test("what is read later is documented as what it will be read as", () => {
  const item = named("Item", text());
  const whole = object<{ readonly item: unknown }>({
    members: { item: later(item) },
  });
  const list = new ComponentList();
  list.plain(whole.json);
  assertEquals(list.schemas, { Item: { type: "string" } });
});
