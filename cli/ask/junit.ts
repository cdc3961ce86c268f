/** Results of tests as continuous integration reads them. @module */

import { escapeInvisible } from "@sig/core";

/** One case and why it failed. */
export interface TestResult {
  readonly name: string;
  /** Undefined where it holds. */
  readonly failure?: string;
}

/** JUnit's XML, without times, so that the same results are the same bytes. */
export function junitXml(
  suite: string,
  results: readonly TestResult[],
): string {
  const failures = results.filter(({ failure }) => failure !== undefined);
  const counts = `tests="${results.length}" failures="${failures.length}"`;
  const cases = results.map(({ name, failure }) => {
    const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}"`;
    return failure === undefined
      ? `${head}/>`
      : `${head}>\n      <failure message="${xml(failure)}"/>\n    </testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${xml(suite)}" ${counts} errors="0">
${cases.join("\n")}
  </testsuite>
</testsuites>
`;
}

/** Two code points may not even be named in XML (XML 1.0 §2.2). */
function xml(text: string): string {
  return escapeInvisible(text)
    .replaceAll(
      /[\ufffe\uffff]/g,
      (found) => `\\u${found.charCodeAt(0).toString(16)}`,
    )
    .replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
