import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type LocalSource,
  locateLocal,
  parseLocalPath,
} from "./local_reader.ts";
import { isMissing, readAll } from "./reader.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

const JWKS = "https://acme.example/.well-known/jwks.json";
const FEED = "https://acme.example/.well-known/sig/events.jsonl";
const jwks = { name: "jwks", maxBytes: 1000 } as const;

async function withIssuer(
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const parent = await Deno.makeTempDir();
  try {
    const folder = `${parent}/acme`;
    await Deno.mkdir(`${folder}/.well-known/sig`, { recursive: true });
    await Deno.writeTextFile(`${folder}/.well-known/sig.json`, '{"a":1}');
    await Deno.writeTextFile(`${folder}/.well-known/jwks.json`, '{"keys":[]}');
    await Deno.writeTextFile(`${folder}/.well-known/sig/events.jsonl`, "");
    await Deno.writeTextFile(`${parent}/secret.json`, "secret");
    await test(folder);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

async function read(source: LocalSource, ref?: string): Promise<string> {
  const { reader, metadataRef } = locateLocal(source);
  const doc = await reader.open(ref ?? metadataRef, {
    name: ref === undefined ? "metadata" : "jwks",
    maxBytes: 1000,
  });
  return new TextDecoder().decode(await readAll(doc, 1000));
}

Deno.test("a directory is read by the paths of its references", () =>
  withIssuer(async (path) => {
    for (const directory of [path, `${path}/`, `${path}/../acme`]) {
      const source = { kind: "directory", path: directory } as const;
      assertEquals(await read(source), '{"a":1}');
      assertEquals(await read(source, JWKS), '{"keys":[]}');
      assertEquals(await read(source, FEED), "");
    }
  }));

Deno.test("a sig.json is read from the directory above .well-known", () =>
  withIssuer(async (folder) => {
    const well = `${folder}/.well-known`;
    await Deno.copyFile(`${well}/sig.json`, `${well}/a b%.json`);
    for (const name of ["sig.json", "../.well-known/sig.json", "a b%.json"]) {
      const source = { kind: "file", path: `${well}/${name}` } as const;
      assertEquals(await read(source), '{"a":1}');
      assertEquals(await read(source, JWKS), '{"keys":[]}');
    }
  }));

Deno.test("a sig.json elsewhere counts as the top of its directory", () =>
  withIssuer(async (folder) => {
    await Deno.writeTextFile(`${folder}/copy.json`, "{}");
    const source = { kind: "file", path: `${folder}/copy.json` } as const;
    assertEquals(await read(source), "{}");
    assertEquals(await read(source, JWKS), '{"keys":[]}');
  }));

Deno.test("a relative file name is found from the current folder", () =>
  withIssuer(async (folder) => {
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
    const config = new URL("../../deno.json", import.meta.url).pathname;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--config", config, "--no-lock", script],
      cwd: `${folder}/.well-known`,
    }).output();
    assertEquals(
      new TextDecoder().decode(stdout),
      '{"a":1}\n{"keys":[]}\n{"a":1}\n{"keys":[]}\n',
      new TextDecoder().decode(stderr),
    );
  }));

Deno.test("paths and symbolic links that leave the directory are refused", () =>
  withIssuer(async (path) => {
    const { reader } = locateLocal({ kind: "directory", path });
    await expectSigError(
      () => reader.open("https://acme.example/../secret.json", jwks),
      "invalid_metadata",
      "it leaves the issuer's directory",
    );
    await Deno.symlink("../../secret.json", `${path}/.well-known/link.json`);
    await Deno.symlink("../..", `${path}/.well-known/up`);
    for (const ref of ["link.json", "up/secret.json"]) {
      await expectSigError(
        () => reader.open(`/.well-known/${ref}`, jwks),
        "invalid_metadata",
        "a symbolic link leaves the issuer's directory",
      );
    }
  }));

Deno.test("a folder whose name begins with the directory's is outside", () =>
  withIssuer(async (path) => {
    await Deno.mkdir(`${path}-other`);
    await Deno.writeTextFile(`${path}-other/x.json`, "secret");
    await Deno.symlink("../../acme-other/x.json", `${path}/.well-known/x.json`);
    await expectSigError(
      () => read({ kind: "directory", path }, "/.well-known/x.json"),
      "invalid_metadata",
      "a symbolic link leaves the issuer's directory",
    );
  }));

Deno.test("symbolic links inside the directory, and to it, are followed", () =>
  withIssuer(async (path) => {
    await Deno.symlink("jwks.json", `${path}/.well-known/keys.json`);
    await Deno.symlink("acme", `${path}-link`);
    assertEquals(
      await read(
        { kind: "directory", path: `${path}-link` },
        "/.well-known/keys.json",
      ),
      '{"keys":[]}',
    );
  }));

Deno.test("what is not there is missing, and only that", () =>
  withIssuer(async (path) => {
    const { reader } = locateLocal({ kind: "directory", path });
    const missing = await expectSigError(
      () => reader.open("/.well-known/did.json", jwks),
      "source_not_found",
      `Cannot read "/.well-known/did.json" in "`,
    );
    assert(isMissing(missing));
    const folder = await expectSigError(
      () => reader.open("/.well-known/sig", jwks),
      "source_not_found",
      "it is not a regular file",
    );
    assert(!isMissing(folder));
    const below = await expectSigError(
      () => reader.open("/.well-known/sig.json/x", jwks),
      "source_not_found",
      "a file is where a directory is expected",
    );
    assert(!isMissing(below));
    await expectSigError(
      () => read({ kind: "directory", path: `${path}/nothing` }),
      "source_not_found",
      "there is no such file",
    );
    const file = `${path}/.well-known/sig.json`;
    await expectSigError(
      () => read({ kind: "directory", path: file }),
      "source_not_found",
      `in "${file}": a file is where a directory is expected`,
    );
  }));

Deno.test("a FIFO does not block", () =>
  withIssuer(async (path) => {
    const fifo = `${path}/.well-known/fifo`;
    await new Deno.Command("mkfifo", { args: [fifo] }).output();
    const { reader } = locateLocal({ kind: "directory", path });
    await expectSigError(
      () => reader.open("/.well-known/fifo", jwks),
      "source_not_found",
      "it is not a regular file",
    );
  }));

Deno.test({
  name: "a file that may not be read is not missing",
  // Nothing is forbidden to root.
  ignore: Deno.uid() === 0,
  fn: () =>
    withIssuer(async (path) => {
      const file = `${path}/.well-known/jwks.json`;
      await Deno.chmod(file, 0);
      const error = await expectSigError(
        () => read({ kind: "directory", path }, JWKS),
        "source_not_found",
        "the system does not let this user read it",
      );
      assert(!isMissing(error));
    }),
});

Deno.test({
  name: "without permission for the folder it may not be read",
  permissions: { read: [new URL(".", import.meta.url).pathname] },
  async fn() {
    await expectSigError(
      () => read({ kind: "directory", path: "/srv" }),
      "source_not_found",
      'Cannot read "/.well-known/sig.json" in "/srv": the program was not given permission to read it',
    );
  },
});

Deno.test("a file over the limit is refused before it is read", () =>
  withIssuer(async (path) => {
    const { reader } = locateLocal({ kind: "directory", path });
    const open = (name: "jwks" | "feed", maxBytes: number) =>
      reader.open(JWKS, { name, maxBytes });
    await readAll(await open("jwks", 11), 11);
    await expectSigError(
      () => open("jwks", 10),
      "document_too_large",
      "it is larger than 10 bytes",
    );
    await expectSigError(
      () => open("feed", 10),
      "feed_too_large",
      "it is larger than 10 bytes",
    );
  }));

Deno.test("a feed is read in chunks, as far as it reached when opened", () =>
  withIssuer(async (path) => {
    const file = `${path}/.well-known/sig/events.jsonl`;
    await Deno.writeFile(file, new Uint8Array(600 * 1024).fill(65));
    const { reader } = locateLocal({ kind: "directory", path });
    const doc = await reader.open(FEED, { name: "feed", maxBytes: 2 ** 20 });
    await Deno.writeTextFile(file, "appended", { append: true });
    const sizes: number[] = [];
    for await (const chunk of doc.bytes) sizes.push(chunk.length);
    assertEquals(sizes, [256 * 1024, 256 * 1024, 88 * 1024]);
  }));

Deno.test("leaving the loop, and cancelling, close the file", () =>
  withIssuer(async (path) => {
    const { reader } = locateLocal({ kind: "directory", path });
    const left = await reader.open(JWKS, jwks);
    for await (const _ of left.bytes) break;
    left.cancel();
    const cancelled = await reader.open(JWKS, jwks);
    await cancelled.cancel();
    await cancelled.cancel();
    await assertRejects(() => readAll(cancelled, 1000));
  }));

Deno.test("a reference is read by its path, its host is not used", () => {
  for (
    const ref of [
      "https://acme.example/.well-known/jwks.json",
      "http://127.0.0.1:8080/.well-known/jwks.json?v=1#x",
      "/.well-known/jwks.json",
      "/.well-known/./sig/../jwks.json",
      "/.well-known/%6awks.json",
      "/.well-known\\jwks.json",
    ]
  ) assertEquals(parseLocalPath(ref), [".well-known", "jwks.json"], ref);
});

Deno.test("a path that climbs out of the directory is refused", async () => {
  for (
    const ref of [
      "https://acme.example/../jwks.json",
      "https://acme.example/.well-known/../../jwks.json",
      "https://acme.example/%2e%2e/jwks.json",
      "https://acme.example/%2e%2e%2fjwks.json",
      "https://acme.example/.well-known/..%2f..%2fjwks.json",
      "https://acme.example/..\\jwks.json",
      "https://acme.example/%2e%2e%5cjwks.json",
      "https://acme.example\\..\\jwks.json",
      "/../jwks.json",
      "../jwks.json",
    ]
  ) {
    await expectSigError(
      () => parseLocalPath(ref),
      "invalid_metadata",
      "it leaves the issuer's directory",
    );
  }
});

Deno.test("percent codes are decoded once only", () => {
  assertEquals(parseLocalPath("/%252e%252e/x"), ["%2e%2e", "x"]);
});

Deno.test("a path that can't be a file is refused", async () => {
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
