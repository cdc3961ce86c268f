/** The pages of the site, in the order of the navigation. @module */

/** A part of the navigation. */
export interface PageGroup {
  readonly title: string;
  /** Documents, by their paths in the checkout. */
  readonly sources: readonly string[];
}

const PACKAGES = ["core", "jose", "issuer", "consumer", "cli", "api", "web"];

/** What is known of the order; other documents of a folder follow. */
const GROUPS: readonly (PageGroup & { readonly folder?: string })[] = [
  { title: "Begin", sources: ["README.md", "docs/README.md"] },
  {
    title: "Guides",
    folder: "docs",
    sources: [
      "docs/demo.md",
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
    folder: "docs/reference",
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

/** Every document that is for readers. */
export async function findPageGroups(root: URL): Promise<readonly PageGroup[]> {
  const known = new Set(GROUPS.flatMap(({ sources }) => sources));
  const groups: PageGroup[] = [];
  for (const { title, sources, folder } of GROUPS) {
    const others: string[] = [];
    if (folder !== undefined) {
      for await (const { name } of Deno.readDir(new URL(folder, root))) {
        const path = `${folder}/${name}`;
        if (name.endsWith(".md") && !known.has(path)) others.push(path);
      }
    }
    groups.push({ title, sources: [...sources, ...others.sort()] });
  }
  return groups;
}

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
