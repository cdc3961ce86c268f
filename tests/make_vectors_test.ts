import { assertEquals } from "@std/assert";

const ROOT = new URL("../", import.meta.url);

Deno.test("the vectors are what their generator makes", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--config",
      new URL("deno.json", ROOT).pathname,
      new URL("tools/make_vectors.ts", ROOT).pathname,
      "--check",
    ],
    env: { NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
});
