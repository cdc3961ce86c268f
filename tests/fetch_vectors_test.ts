import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import {
  fetchVectors,
  readSources,
  type VectorSource,
} from "../tools/fetch_vectors.ts";
import { sha256 } from "../tools/workspace.ts";
import { serveLoopback } from "./kit/loopback.ts";
import { vectorPath, vectorTest } from "./kit/others_vectors.ts";
import { freePort, tempFolder } from "./kit/process.ts";

const SOURCES = readSources();
const RAW = "https://raw.githubusercontent.com";

/** Serves files by their path, and records the requests. */
function serveFiles(files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>) {
  const asked: string[] = [];
  const server = serveLoopback(({ url }) => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    const bytes = files.get(pathname);
    const body = bytes === undefined ? undefined : new Blob([bytes]).stream();
    return new Response(
      pathname.endsWith(".gz")
        ? body?.pipeThrough(new CompressionStream("gzip")) ?? null
        : body ?? null,
      { status: bytes === undefined ? 404 : 200 },
    );
  });
  return { ...server, asked };
}

Deno.test("each source has a URL with a commit, a digest and a licence", () => {
  for (const { file, url, sha256, licence } of SOURCES) {
    assertMatch(
      url,
      /^https:\/\/raw\.githubusercontent\.com\/[\w-]+\/[\w-]+\/[0-9a-f]{40}\/\S+$/,
    );
    assertMatch(sha256, /^[0-9a-f]{64}$/);
    assertMatch(licence, /^[\w.-]+$/);
    assertMatch(file, /^(?:[\w+.#-]+\/)+[\w+.#-]+$/);
  }
  const files = SOURCES.map(({ file }) => file);
  assertEquals(files, [...new Set(files)]);
});

vectorTest(
  "the tests' vectors have the digests of the sources",
  "wycheproof/ed25519_test.json",
  async () => {
    for (const { file, sha256: digest } of SOURCES) {
      assertEquals(
        await sha256(await Deno.readFile(vectorPath(file))),
        digest,
        file,
      );
    }
  },
);

vectorTest(
  "every source is fetched once, and the bytes are those of its project",
  "wycheproof/ed25519_test.json",
  async () => {
    const pathOf = ({ url }: VectorSource) => new URL(url).pathname;
    const served = new Map(
      SOURCES.map((source) =>
        [pathOf(source), Deno.readFileSync(vectorPath(source.file))] as const
      ),
    );
    await using server = serveFiles(served);
    await using folder = await tempFolder();
    const sources = SOURCES.map((source) => ({
      ...source,
      url: source.url.replace(RAW, server.origin),
    }));
    assertEquals(await fetchVectors(sources, folder.path), []);
    assertEquals(server.asked.toSorted(), SOURCES.map(pathOf).sort());
    for (const source of SOURCES) {
      const found = await Deno.readFile(`${folder.path}/${source.file}`);
      assertEquals(found, served.get(pathOf(source)), source.file);
    }
    assertEquals(await fetchVectors(sources, folder.path), []);
    assertEquals(server.asked.length, SOURCES.length);
  },
  { net: true, write: true },
);

Deno.test("a file with another digest is rejected by name, and the other files are fetched", async () => {
  const bytes = new TextEncoder().encode("right");
  const wrong = new TextEncoder().encode("wrong");
  await using server = serveFiles(
    new Map([["/good", bytes], ["/bad", wrong], ["/here", bytes]]),
  );
  await using folder = await tempFolder();
  const digest = await sha256(bytes);
  const source = (name: string) => ({
    file: `x/${name}`,
    url: `${server.origin}/${name}`,
    sha256: digest,
    licence: "MIT",
  });
  await Deno.mkdir(`${folder.path}/x`);
  await Deno.writeFile(`${folder.path}/x/here`, wrong);
  const faults = await fetchVectors(
    ["here", "bad", "gone", "good"].map(source),
    folder.path,
  );
  const expected = `SHA-256 ${await sha256(wrong)}, expected ${digest}`;
  assertEquals(faults, [
    `x/bad: ${server.origin}/bad has other bytes: ${expected}`,
    `x/gone: ${server.origin}/gone answers 404`,
    `x/here: ${folder.path}/x/here has other bytes, remove it: ${expected}`,
  ]);
  const found = [...Deno.readDirSync(`${folder.path}/x`)];
  assertEquals(found.map(({ name }) => name).sort(), ["good", "here"]);
  assertEquals(await Deno.readFile(`${folder.path}/x/here`), wrong);
});

Deno.test("an unreachable host is not requested for every file", async () => {
  await using folder = await tempFolder();
  const url = `http://127.0.0.1:${freePort()}/x`;
  const sources = Array.from({ length: 40 }, (_, i) => ({
    ...{ file: `${i}`, url, sha256: "", licence: "MIT" },
  }));
  const [first = "", ...more] = await fetchVectors(sources, folder.path);
  assertStringIncludes(first, "error sending request for url");
  assert(more.length < 20, `${more.length} more`);
});
