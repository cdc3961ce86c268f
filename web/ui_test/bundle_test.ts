import { assert, assertEquals } from "@std/assert";
import { bundlePage } from "../../tools/bundle.ts";
import { SCRIPT } from "../pages/assets.ts";

Deno.test("the bundled script is up to date", async () => {
  assertEquals(await bundlePage() === SCRIPT, true, "run deno task bundle");
});

Deno.test("the script is one file for browsers, without a path of a machine", () => {
  assert(
    !/^(?:import|export)\b|[;}](?:import|export)\b|\bimport\(/m.test(SCRIPT),
  );
  assert(!/\bDeno\.\w/.test(SCRIPT));
  assert(!/\.cache|\/root\/|\/home\/|file:\/\//.test(SCRIPT));
});
