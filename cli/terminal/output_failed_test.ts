import { assertEquals } from "@std/assert";
import { writeAll } from "@sig/api/process";
import { denoArgs, sig } from "../testdata/process.ts";

Deno.test({
  name: "output that can't be written is an error, never an answer",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cwd = await Deno.makeTempDir();
    try {
      await sig(["init", "acme.example"], { cwd });
      const args = ["dump-state", "./acme.example", "--format", "text"];
      const { code, stderr } = await new Deno.Command("sh", {
        args: [
          ...["-c", 'exec "$0" "$@" > /dev/full', Deno.execPath()],
          ...denoArgs(args, { cwd }),
        ],
        cwd,
      }).output();
      assertEquals(code, 2);
      assertEquals(
        new TextDecoder().decode(stderr).split("\n", 1),
        [
          "error: write_failed: Cannot write the result: standard output takes no more",
        ],
      );
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});

Deno.test("a stream that takes nothing just now is waited for, one without a reader is left", () => {
  const written: number[] = [];
  let calls = 0;
  writeAll({
    writeSync(bytes) {
      if (++calls % 2 === 0) throw new Deno.errors.WouldBlock();
      written.push(bytes[0]!);
      return 1;
    },
  }, "abc");
  assertEquals(new TextDecoder().decode(new Uint8Array(written)), "abc");
  writeAll({
    writeSync() {
      throw new Deno.errors.BrokenPipe();
    },
  }, "abc");
});
