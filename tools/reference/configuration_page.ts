/**
 * `docs/reference/configuration.md`, generated from the flags of the servers.
 * @module
 */

import { apiProgram } from "@sig/api/internal/sig-api";
import {
  flagRow,
  type FlagSpec,
  settingName,
  variableName,
} from "@sig/api/program";
import { webProgram } from "@sig/web/sig-web";

const PROGRAMS = [apiProgram, webProgram];

/** Returns the page as Markdown. */
export function configurationPage(): string {
  const rows = PROGRAMS.flatMap(({ name, flags }) =>
    flags.map((flag) => ({ flag, variable: variableName(name, flag.name) }))
  );
  // A setting with different descriptions in the two servers has two rows.
  const settings = Map.groupBy(
    rows,
    ({ flag }) => JSON.stringify([flagRow(flag)]),
  );
  return `# Settings of the servers

${INTRODUCTION}

| setting | flag | variable | |
| --- | --- | --- | --- |
${[...settings.values()].map(row).join("\n")}
`;
}

const INTRODUCTION =
  `\`sig-api\` and \`sig-web\` take each setting as a flag, as a variable, and in
the file that \`--config\` names. Flags take precedence over variables, variables
over the file. A name that a server does not know stops the start, and the error
names the setting that was probably meant.

\`\`\`yaml
# /etc/sig/api.yaml, for sig-api --config /etc/sig/api.yaml
issuer: [acme.example]
max_age: 30s
token_file: /etc/sig/token.txt
\`\`\`

- The file is YAML or JSON. A setting that is marked as a list is a list there.
  Numbers are written as in JSON, so \`017\` is refused.
- In a variable a list has commas between its items, and a switch is \`true\` or
  \`false\`. An empty variable is not set.
- A server finds misspelt variables by listing its environment: that needs
  \`--allow-env\`, which sig-api and sig-web have as executables and as launchers.
  With a narrower permission it reads the variables that it may read, and says in its log that it
  did not look for others.
- Secrets are files that a setting names. The password of a Redis may also be in
  \`SIG_REDIS_PASSWORD\`.
- Under \`deno serve\`, \`addr\` has no effect, \`public\` is \`true\` by default, and
  \`SIG_TOKEN\` holds the bearer token of the API.`;

function row(
  same: readonly { readonly flag: FlagSpec; readonly variable: string }[],
): string {
  const { name, value, help, repeat } = same[0]!.flag;
  const kind = value === undefined ? "switch" : repeat ? "list" : undefined;
  const cells = [
    name === "config" ? "" : `\`${settingName(name)}\``,
    `\`--${name}${value === undefined ? "" : ` ${value}`}\``,
    same.map(({ variable }) => `\`${variable}\``).join(" "),
    help + (kind === undefined ? "" : ` (${kind})`),
  ];
  return `| ${
    cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("<", "\\<"))
      .join(" | ")
  } |`;
}
