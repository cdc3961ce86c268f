/** The pages of the site, in the order of the navigation. @module */

/** A part of the navigation. */
export interface PageGroup {
  readonly title: string;
  /** Documents, by their paths in the checkout. */
  readonly sources: readonly string[];
}

const PACKAGES = ["core", "jose", "issuer", "consumer", "cli", "api", "web"];

/** Every document that is for readers. */
export const PAGE_GROUPS: readonly PageGroup[] = [
  { title: "Begin", sources: ["README.md", "docs/README.md"] },
  {
    title: "Guides",
    sources: [
      "docs/run-an-issuer.md",
      "docs/rely-on-an-issuer.md",
      "docs/log-people-in.md",
      "docs/deploy.md",
      "docs/rotate-a-key.md",
      "docs/audit.md",
      "examples/README.md",
    ],
  },
  {
    title: "Reference",
    sources: [
      "docs/reference/command-line.md",
      "docs/reference/http.md",
      "docs/reference/errors.md",
    ],
  },
  {
    title: "Packages",
    sources: PACKAGES.map((name) => `${name}/README.md`),
  },
  {
    title: "Inside",
    sources: [
      "DESIGN.md",
      "SECURITY.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "vectors/README.md",
      "bench/README.md",
    ],
  },
];

/** Where a document is written to, from the site's root. */
export function outputOf(source: string): string {
  if (source === "README.md") return "index.html";
  return source.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
}

/** One file's way to another, both from the site's root. */
export function relativePath(from: string, to: string): string {
  const up = "../".repeat(from.split("/").length - 1);
  return `${up}${to}`;
}
