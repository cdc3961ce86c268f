import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type LocalSource,
  locateLocal,
  parseLocalPath,
} from "./local_reader.ts";
import { type DocumentReader, isMissing, readAll } from "./reader.ts";
import { ROOT, run, tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const JWKS = "https://acme.example/.well-known/jwks.json";
const FEED = "https://acme.example/.well-known/sig/events.jsonl";
const jwks = { name: "jwks", maxBytes: 1000 } as const;

/**
 * Registers a test with an issuer's directory, and a secret file in its parent
 * folder.
 */
function folderTest(
  name: string,
  test: (path: string, reader: DocumentReader) => Promise<void>,
  ignore = false,
): void {
  const fn = async () => {
    await using parent = await tempFolder();
    const path = `${parent.path}/acme`;
    await Deno.mkdir(`${path}/.well-known/sig`, { recursive: true });
    await Deno.writeTextFile(`${path}/.well-known/sig.json`, '{"a":1}');
    await Deno.writeTextFile(`${path}/.well-known/jwks.json`, '{"keys":[]}');
    await Deno.writeTextFile(`${path}/.well-known/sig/events.jsonl`, "");
    await Deno.writeTextFile(`${parent.path}/secret.json`, "secret");
    await test(path, locateLocal({ kind: "directory", path }).reader);
  };
  Deno.test({ name, ignore, fn });
}

async function read(source: LocalSource, ref?: string): Promise<string> {
  const { reader, metadataRef } = locateLocal(source);
  const doc = await reader.open(ref ?? metadataRef, jwks);
  return new TextDecoder().decode(await readAll(doc, 1000));
}

folderTest("reads a directory by the paths of its references", async (path) => {
  for (const directory of [path, `${path}/`, `${path}/../acme`]) {
    const source = { kind: "directory", path: directory } as const;
    assertEquals(await read(source), '{"a":1}');
    assertEquals(await read(source, JWKS), '{"keys":[]}');
    assertEquals(await read(source, FEED), "");
  }
});

folderTest(
  "reads a sig.json inside or outside a .well-known folder",
  async (path) => {
    const well = ".well-known";
    await Deno.copyFile(
      `${path}/${well}/sig.json`,
      `${path}/${well}/a b%.json`,
    );
    await Deno.copyFile(`${path}/${well}/sig.json`, `${path}/copy.json`);
    for (
      const name of [
        ...[`${well}/sig.json`, `${well}/../${well}/sig.json`],
        ...[`${well}/a b%.json`, "copy.json"],
      ]
    ) {
      const source = { kind: "file", path: `${path}/${name}` } as const;
      assertEquals(await read(source), '{"a":1}');
      assertEquals(await read(source, JWKS), '{"keys":[]}');
    }
  },
);

folderTest(
  "resolves a relative file name against the current folder",
  async (path) => {
    const module = new URL("./local_reader.ts", import.meta.url).href;
    const script = `
    const { locateLocal } = await import(${JSON.stringify(module)});
    for (const path of ["sig.json", "./sig.json"]) {
      const { reader, metadataRef } = locateLocal({ kind: "file", path });
      for (const ref of [metadataRef, ${JSON.stringify(JWKS)}]) {
        const doc = await reader.open(ref, { name: "jwks", maxBytes: 99 });
        for await (const chunk of doc.bytes) {
          console.log(new TextDecoder().decode(chunk));
        }
      }
    }`;
    const config = new URL("deno.json", ROOT).pathname;
    const words = ["eval", "--config", config, "--no-lock", script];
    const cwd = `${path}/.well-known`;
    const { stdout, stderr } = await run(Deno.execPath(), words, { cwd });
    assertEquals(stdout, '{"a":1}\n{"keys":[]}\n'.repeat(2), stderr);
  },
);

folderTest(
  "refuses paths and symbolic links that leave the directory",
  async (path, reader) => {
    await Deno.mkdir(`${path}-other`);
    await Deno.writeTextFile(`${path}-other/x.json`, "secret");
    await Deno.symlink("../../secret.json", `${path}/.well-known/link.json`);
    await Deno.symlink("../..", `${path}/.well-known/up`);
    // A folder outside whose name begins with the directory's name.
    await Deno.symlink("../../acme-other/x.json", `${path}/.well-known/x.json`);
    const link = "a symbolic link leaves the issuer's directory";
    for (
      const [ref, why] of [
        [
          "https://acme.example/../secret.json",
          "it leaves the issuer's directory",
        ],
        ["/.well-known/link.json", link],
        ["/.well-known/up/secret.json", link],
        ["/.well-known/x.json", link],
      ] as const
    ) {
      await expectSigError(
        () => reader.open(ref, jwks),
        "invalid_metadata",
        why,
      );
    }
  },
);

folderTest(
  "follows symbolic links inside the directory, and a link to it",
  async (path) => {
    await Deno.symlink("jwks.json", `${path}/.well-known/keys.json`);
    await Deno.symlink("acme", `${path}-link`);
    const source = { kind: "directory", path: `${path}-link` } as const;
    assertEquals(await read(source, "/.well-known/keys.json"), '{"keys":[]}');
  },
);

folderTest("only a file that does not exist is missing", async (path) => {
  await run("mkfifo", [`${path}/.well-known/fifo`]);
  const file = `${path}/.well-known/sig.json`;
  for (
    const [directory, ref, message, missing] of [
      [path, "/.well-known/did.json", 'Cannot read "/.well-known/did', true],
      [`${path}/nothing`, undefined, "there is no such file", true],
      [path, "/.well-known/sig", "it is not a regular file", false],
      // The FIFO has no writer; opening it must not wait for one.
      [path, "/.well-known/fifo", "it is not a regular file", false],
      [path, "/.well-known/sig.json/x", "a file is where a directory", false],
      [file, undefined, `in "${file}": a file is where a directory`, false],
    ] as const
  ) {
    const error = await expectSigError(
      () => read({ kind: "directory", path: directory }, ref),
      "source_not_found",
      message,
    );
    assertEquals(isMissing(error), missing, message);
  }
});

folderTest("a file without read permission is not missing", async (path) => {
  await Deno.chmod(`${path}/.well-known/jwks.json`, 0);
  const error = await expectSigError(
    () => read({ kind: "directory", path }, JWKS),
    "source_not_found",
    "the system does not let this user read it",
  );
  assert(!isMissing(error));
  // Root may read every file.
}, Deno.uid() === 0);

Deno.test({
  name: "a missing read permission is source_not_found",
  permissions: { read: [new URL(".", import.meta.url).pathname] },
  async fn() {
    await expectSigError(
      () => read({ kind: "directory", path: "/srv" }),
      "source_not_found",
      'Cannot read "/.well-known/sig.json" in "/srv": the program was not given permission to read it',
    );
  },
});

folderTest(
  "refuses a file over the limit before it reads it",
  async (_, reader) => {
    await readAll(await reader.open(JWKS, { name: "jwks", maxBytes: 11 }), 11);
    for (
      const [name, code] of [
        ["jwks", "document_too_large"],
        ["feed", "feed_too_large"],
      ] as const
    ) {
      await expectSigError(
        () => reader.open(JWKS, { name, maxBytes: 10 }),
        code,
        "it is larger than 10 bytes",
      );
    }
  },
);

folderTest(
  "reads a feed in chunks, up to its size when it was opened",
  async (path, reader) => {
    const file = `${path}/.well-known/sig/events.jsonl`;
    await Deno.writeFile(file, new Uint8Array(600 * 1024).fill(65));
    const doc = await reader.open(FEED, { name: "feed", maxBytes: 2 ** 20 });
    await Deno.writeTextFile(file, "appended", { append: true });
    const sizes: number[] = [];
    for await (const chunk of doc.bytes) sizes.push(chunk.length);
    assertEquals(sizes, [256 * 1024, 256 * 1024, 88 * 1024]);
  },
);

folderTest(
  "closes the file when the loop ends early or is cancelled",
  async (_, reader) => {
    const left = await reader.open(JWKS, jwks);
    for await (const _ of left.bytes) break;
    left.cancel();
    const cancelled = await reader.open(JWKS, jwks);
    await cancelled.cancel();
    await cancelled.cancel();
    await assertRejects(() => readAll(cancelled, 1000));
  },
);

Deno.test("a reference is read by its path, and its host is ignored", () => {
  for (
    const ref of [
      ...["https://acme.example/.well-known/jwks.json"],
      ...["http://127.0.0.1:8080/.well-known/jwks.json?v=1#x"],
      ...["/.well-known/jwks.json", "/.well-known/./sig/../jwks.json"],
      ...["/.well-known/%6awks.json", "/.well-known\\jwks.json"],
    ]
  ) assertEquals(parseLocalPath(ref), [".well-known", "jwks.json"], ref);
});

Deno.test("refuses a path that leaves the directory", async () => {
  for (
    const ref of [
      ...["https://acme.example/../jwks.json"],
      ...["https://acme.example/.well-known/../../jwks.json"],
      ...["https://acme.example/%2e%2e/jwks.json"],
      ...["https://acme.example/%2e%2e%2fjwks.json"],
      ...["https://acme.example/.well-known/..%2f..%2fjwks.json"],
      ...["https://acme.example/..\\jwks.json"],
      ...["https://acme.example/%2e%2e%5cjwks.json"],
      ...["https://acme.example\\..\\jwks.json", "/../jwks.json"],
      ...["../jwks.json"],
    ]
  ) {
    await expectSigError(
      () => parseLocalPath(ref),
      "invalid_metadata",
      "it leaves the issuer's directory",
    );
  }
});

Deno.test("percent codes are decoded only once", () => {
  assertEquals(parseLocalPath("/%252e%252e/x"), ["%2e%2e", "x"]);
});

Deno.test("refuses a path that can't be a file", async () => {
  for (
    const [ref, why] of [
      ["https://acme.example", "it has no file name"],
      ["https://acme.example/", "it has no file name"],
      ["/a/..", "it has no file name"],
      ["/%", "its percent-encoding is malformed"],
      ["/%ff", "its percent-encoding is malformed"],
      ["/jwks.json%00.txt", "it contains a control character"],
      ["/a%0ab", "it contains a control character"],
    ] as const
  ) await expectSigError(() => parseLocalPath(ref), "invalid_metadata", why);
});
