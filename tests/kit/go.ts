/**
 * Go programs, built with Debian's packages golang-go and
 * golang-golang-x-mod-dev, to compare with independent implementations.
 *
 * @module
 */

import { hasProgram, isCi, runWell } from "./process.ts";

const MODULES = "/usr/share/gocode";

/** Whether to skip tests that need Go: never in CI, where they fail instead. */
export const WITHOUT_GO = !hasGo() && !isCi;

function hasGo(): boolean {
  try {
    Deno.statSync(`${MODULES}/src/golang.org/x/mod/sumdb/tlog`);
  } catch {
    return false;
  }
  return hasProgram("go");
}

/** Builds a program and returns its path. */
export async function buildGo(source: URL, folder: string): Promise<string> {
  if (!hasGo()) {
    throw new Error(
      "This test needs Go: apt install golang-go golang-golang-x-mod-dev",
    );
  }
  const program = `${folder}/program`;
  await runWell("go", ["build", "-o", program, source.pathname], {
    env: { GO111MODULE: "off", GOPATH: MODULES },
  });
  return program;
}
