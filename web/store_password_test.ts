import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseFlags } from "@sig/api/flags";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { webProgram } from "./program.ts";
import { readStorePassword } from "./store_password.ts";

const SECRET = "s3cret/pw";

function read(
  words: readonly string[],
  { file = SECRET, env }: { file?: string; env?: string } = {},
) {
  const flags = parseFlags(words, { flags: webProgram.flags, seeHelp: "" });
  return readStorePassword(flags, {
    readFile: () => Promise.resolve(new TextEncoder().encode(file)),
    env: (name) => name === "SIG_REDIS_PASSWORD" ? env : undefined,
  });
}

const FILE = ["--store-password-file", "pw.txt"];

Deno.test("a file comes before the environment, and neither warns", async () => {
  for (const store of ["redis://r.example", "rediss://alice@r.example:1/2"]) {
    const words = ["--store", store];
    const rows = [
      [await read(words), undefined],
      [await read(words, { env: "" }), undefined],
      [await read(words, { env: "of-env" }), "of-env"],
      [await read([...words, ...FILE], { env: "of-env" }), SECRET],
      [await read([...words, ...FILE], { file: "p w\u00e9\r\n" }), "p w\u00e9"],
    ] as const;
    for (const [found, password] of rows) {
      assertEquals(found, { password, warnings: [] });
    }
  }
  for (const words of [[], ["--store", "memory"], ["--store", "kv:x"]]) {
    const found = await read(words, { env: "of-env" });
    assertEquals(found, { password: undefined, warnings: [] });
  }
});

Deno.test("a password in the arguments is said to be seen, without showing it", async () => {
  const { password, warnings } = await read(
    ["--store", "redis://alice:s3cret@r.example"],
    { env: "of-env" },
  );
  assertEquals(password, undefined);
  assertEquals(warnings, [
    "the password in --store is visible to every user of this machine; use --store-password-file or SIG_REDIS_PASSWORD",
  ]);
});

Deno.test("a password that can't be meant is refused, and not shown", async () => {
  const redis = ["--store", "redis://r.example", ...FILE];
  const rows = [
    [FILE, SECRET, "--store-password-file is for --store redis://…"],
    [
      ["--store", "redis://:s3cret@r.example", ...FILE],
      SECRET,
      "--store has a password already",
    ],
    ...["", "\n", "s3cret\ns3cret", "s3cret\u0000", "s3cret\n\n"].map((file) =>
      [redis, file, "the password must be one line of text"] as const
    ),
  ] as const;
  for (const [words, file, why] of rows) {
    const error = await expectSigError(
      () => read(words, { file }),
      "invalid_request",
      `Cannot run: ${why}`,
    );
    assertEquals(error.context.flag, "--store-password-file");
    const shown = Deno.inspect(error, { depth: 20, showHidden: true });
    assertEquals(shown.includes("s3cret"), false, shown);
  }
  const bytes = Uint8Array.of(0xff, 0xfe);
  const flags = parseFlags(redis, { flags: webProgram.flags, seeHelp: "" });
  const error = await expectSigError(
    () =>
      readStorePassword(flags, {
        env: () => undefined,
        readFile: () => Promise.resolve(bytes),
      }),
    "invalid_request",
    "Cannot run: the password must be one line of text",
  );
  assertStringIncludes(error.message, "one line");
});
