import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the source, its path relative to the repository. */
export interface SourceFile {
  readonly path: string;
  /** The files of the source that it imports, types included. */
  readonly imports: readonly string[];
}

/** Every TypeScript file of `src`. */
export function readSource(): readonly SourceFile[] {
  return readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readSourceFile(join('src', name)));
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(repository, path), 'utf8');
  const folder = dirname(path);
  const imports = ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => sourceOf(relative('.', join(folder, fileName))));
  return { path, imports };
}

/** What an import of a `.js` file means. */
function sourceOf(path: string): string {
  const [plain, withElements] = ['.ts', '.tsx'].map((ending) => path.replace(/\.js$/, ending));
  return existsSync(join(repository, withElements!)) ? withElements! : plain!;
}

/** The files that import themselves by way of others: each circle as the list of its files, sorted. */
export function importCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const reached = new Map(files.map(({ path }) => [path, reachableFrom(path, files)]));
  const circles = new Map<string, readonly string[]>();
  for (const [path, others] of reached) {
    if (!others.has(path)) continue;
    const circle = [...others].filter((other) => reached.get(other)!.has(path)).sort();
    circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

function reachableFrom(start: string, files: readonly SourceFile[]): ReadonlySet<string> {
  const imports = new Map(files.map((file) => [file.path, file.imports]));
  const reached = new Set<string>();
  const waiting = [...imports.get(start)!];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(imports.get(path) ?? []));
  }
  return reached;
}
