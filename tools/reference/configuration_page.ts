/** `docs/reference/configuration.md`, from the servers' own flags. @module */

import { apiProgram } from "@sig/api/program";
import type { FlagSpec } from "@sig/api/flags";
import { settingName, variableName } from "@sig/api/server";
import { webProgram } from "@sig/web/program";

/** Makes the page. */
export function configurationPage(): string {
  const flags = new Map(
    [...apiProgram.flags, ...webProgram.flags].map((flag) => [flag.name, flag]),
  );
  return `# Settings of the servers

${INTRODUCTION}

| setting | flag | variable | |
| --- | --- | --- | --- |
${[...flags.values()].map(row).join("\n")}
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
- In a variable a list has commas between its items, and a switch is \`true\` or
  \`false\`. An empty variable is not set.
- A server finds misspelt variables by listing its environment: that needs
  \`--allow-env\`, which the executables and launchers have. With a narrower
  permission it reads the variables that it may read, and says in its log that it
  did not look for others.
- Secrets are files that a setting names. The password of a Redis may also be in
  \`SIG_REDIS_PASSWORD\`.
- Under \`deno serve\`, \`addr\` has no effect, \`public\` is \`true\` by default, and
  \`SIG_TOKEN\` holds the bearer token of the API.`;

function row(flag: FlagSpec): string {
  const { name, value, help, repeat } = flag;
  const variables = [apiProgram, webProgram]
    .filter((program) => program.flags.some((each) => each.name === name))
    .map((program) => variableName(program.name, name));
  const kind = value === undefined ? "switch" : repeat ? "list" : undefined;
  const word = value === undefined ? `--${name}` : `--${name} ${value}`;
  const cells = [
    name === "config" ? "" : `\`${settingName(name)}\``,
    `\`${word.replaceAll("|", "\\|")}\``,
    variables.map((variable) => `\`${variable}\``).join(" "),
    `${help.replaceAll("|", "\\|").replaceAll("<", "\\<")}${
      kind === undefined ? "" : ` (${kind})`
    }`,
  ];
  return `| ${cells.join(" | ")} |`;
}
