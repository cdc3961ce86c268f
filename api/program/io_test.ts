import { assert, assertEquals } from "@std/assert";
import { isSigError } from "@sig/core";
import {
  createProcessIo,
  dataFolder,
  readVariable,
  readVariables,
} from "./io.ts";

async function refusal(path: string, maxBytes: number): Promise<string> {
  const error = await createProcessIo().readFile(path, maxBytes)
    .then(() => undefined, (error) => error);
  assert(isSigError(error), String(error));
  return `${error.code}: ${error.message.replace(path, "FILE")}`;
}

Deno.test("reads a regular file up to a size, and nothing else", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/token`;
  await Deno.writeTextFile(file, "s3cret\n");
  const bytes = await createProcessIo().readFile(file, 7);
  assertEquals(new TextDecoder().decode(bytes), "s3cret\n");
  assertEquals(
    await refusal(file, 6),
    'document_too_large: Cannot read "FILE": it is larger than 6 bytes',
  );
  const notFile = 'source_not_found: Cannot read "FILE": it is not a file';
  assertEquals(await refusal(folder, 100), notFile);
  assertEquals(await refusal("/dev/zero", 100), notFile);
  assertEquals(
    await refusal(`${folder}/other`, 100),
    'source_not_found: Cannot read "FILE": there is no such file',
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "a file without permission to read is not found",
  permissions: { read: false },
  async fn() {
    assertEquals(
      await refusal("/etc/hostname", 100),
      'source_not_found: Cannot read "FILE": the program was not given permission to read it',
    );
  },
});

Deno.test("the user's data folder is an absolute path, or missing", () => {
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ HOME: "/home/ada" }, "/home/ada/.local/share/sig"],
    [{ HOME: "C:\\Users\\ada" }, "C:\\Users\\ada/.local/share/sig"],
    [{ HOME: "/home/ada", XDG_DATA_HOME: "/data" }, "/data/sig"],
    [
      { HOME: "/home/ada", XDG_DATA_HOME: "data" },
      "/home/ada/.local/share/sig",
    ],
    [{}, "there is no HOME (or it may not be read)"],
    [{ HOME: "" }, "there is no HOME (or it may not be read)"],
    [{ HOME: "." }, 'HOME is ".", which is not an absolute path'],
    [{ HOME: "home" }, 'HOME is "home", which is not an absolute path'],
    [{ HOME: "~" }, 'HOME is "~", which is not an absolute path'],
  ];
  for (const [env, expected] of cases) {
    const found = dataFolder((name) => env[name]);
    const outcome = found.folder === undefined ? found.why : found.folder;
    assertEquals(outcome, expected);
  }
});

const NAME = "SIG_TEST_READ_VARIABLE";

function given<T>(value: string, read: () => T): T {
  Deno.env.set(NAME, value);
  try {
    return read();
  } finally {
    Deno.env.delete(NAME);
  }
}

Deno.test("an empty variable counts as unset", () => {
  assertEquals(readVariable(NAME), undefined);
  assertEquals(given("", () => readVariable(NAME)), undefined);
  assertEquals(given("a b", () => readVariable(NAME)), "a b");
});

Deno.test({
  name: "a variable that may not be read counts as unset",
  permissions: { env: false },
  fn() {
    assertEquals(readVariable(NAME), undefined);
  },
});

Deno.test("all variables are read with the permission to list them", () => {
  const { values, looked } = given("a", () => readVariables([]));
  assertEquals([values[NAME], looked], ["a", "all"]);
});

for (const env of [[NAME], false] as const) {
  Deno.test({
    name: `${env ? "a narrow" : "no"} permission shows known variables only`,
    permissions: { env: env && [...env] },
    fn() {
      const expected = env
        ? { values: { [NAME]: "" }, looked: "known" }
        : { values: {}, looked: "none" };
      assertEquals(readVariables([NAME, "PATH"]), { ...expected } as unknown);
    },
  });
}
