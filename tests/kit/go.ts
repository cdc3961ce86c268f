/**
 * Programs in Go, built from Debian's packages golang-go and
 * golang-golang-x-mod-dev: code of others that ours must agree with.
 *
 * @module
 */

import { hasProgram, runWell } from "./process.ts";

const MODULES = "/usr/share/gocode";

/** Whether tests that need Go are left out: never in CI, where they fail. */
export const WITHOUT_GO = !hasGo() && Deno.env.get("SIG_CI") !== "1";

function hasGo(): boolean {
  try {
    Deno.statSync(`${MODULES}/src/golang.org/x/mod/sumdb/tlog`);
  } catch {
    return false;
  }
  return hasProgram("go");
}

/** Builds a program. Returns its path. */
export async function buildGo(source: URL, folder: string): Promise<string> {
  if (!hasGo()) {
    throw new Error(
      "This test needs Go: apt install golang-go golang-golang-x-mod-dev",
    );
  }
  const program = `${folder}/program`;
  await runWell("go", ["build", "-o", program, source.pathname], {
    env: { GO111MODULE: "off", GOPATH: MODULES, GOCACHE: `${folder}/cache` },
  });
  return program;
}
