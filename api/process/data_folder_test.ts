import { assertEquals } from "@std/assert";
import { dataFolder } from "./io.ts";

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
    const told = found.folder === undefined ? found.why : found.folder;
    assertEquals(told, expected);
  }
});
