import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { readStorePassword } from "./store_password.ts";

// promise: A store's password is never in an argument.

const SECRET = "s3cret/pw";

function read(
  store: string,
  { file, env }: { file?: string | Uint8Array; env?: string } = {},
) {
  return readStorePassword(
    {
      ...{ flag: "--store", store, fileFlag: "--store-password-file" },
      file: file === undefined ? undefined : "pw.txt",
    },
    {
      readFile: () =>
        Promise.resolve(
          typeof file === "string" ? new TextEncoder().encode(file) : file!,
        ),
      env: (name) => name === "SIG_REDIS_PASSWORD" ? env : undefined,
    },
  );
}

Deno.test("a file takes precedence over the environment, and neither causes a warning", async () => {
  for (const store of ["redis://r.example", "rediss://alice@r.example:1/2"]) {
    const rows = [
      [await read(store), undefined],
      [await read(store, { env: "" }), undefined],
      [await read(store, { env: "of-env" }), "of-env"],
      [await read(store, { file: SECRET, env: "of-env" }), SECRET],
      [await read(store, { file: "p w\u00e9\r\n" }), "p w\u00e9"],
    ] as const;
    for (const [found, password] of rows) {
      assertEquals(found, { password, warnings: [] });
    }
  }
  for (const store of ["memory", "kv:x"]) {
    const found = await read(store, { env: "of-env" });
    assertEquals(found, { password: undefined, warnings: [] });
  }
});

Deno.test("warns of a password in the arguments without showing it", async () => {
  const store = "redis://alice:s3cret@r.example";
  const { password, warnings } = await read(store, { env: "of-env" });
  assertEquals(password, undefined);
  assertEquals(warnings, [
    "the password in --store is visible to every user of this machine; use --store-password-file or SIG_REDIS_PASSWORD",
  ]);
  const io = { readFile: () => Promise.reject(), env: () => "of-env" };
  assertEquals(await readStorePassword({ flag: "--pins", store }, io), {
    password: undefined,
    warnings: [
      "the password in --pins is visible to every user of this machine; use SIG_REDIS_PASSWORD",
    ],
  });
});

Deno.test("rejects an invalid password without showing it", async () => {
  const redis = "redis://r.example";
  const notALine = "the password must be one line of text";
  const rows: readonly (readonly [string, string | Uint8Array, string])[] = [
    ["memory", SECRET, "--store-password-file is for --store redis://…"],
    [
      "redis://:s3cret@r.example",
      SECRET,
      "--store has a password already",
    ],
    ...[
      ...["", "\n", "s3cret\ns3cret", "s3cret\u0000", "s3cret\n\n"],
      Uint8Array.of(0xff, 0xfe),
    ].map((file) => [redis, file, notALine] as const),
  ];
  for (const [store, file, why] of rows) {
    const error = await expectSigError(
      () => read(store, { file }),
      "invalid_request",
      `Cannot run: ${why}`,
    );
    assertEquals(error.context.flag, "--store-password-file");
    const shown = Deno.inspect(error, { depth: 20, showHidden: true });
    assertEquals(shown.includes("s3cret"), false, shown);
  }
});
