// Sets where the project is published: npm run address -- NAME [REGISTRY]
// NAME: the owner on GitHub. REGISTRY: that of image and chart, by default ghcr.io/NAME. Until then these files have the placeholder OWNER.
import { readdir, readFile, writeFile } from 'node:fs/promises';

/** All files with an address of the project, beside the documents. */
const FILES = [
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'deploy/README.md',
  'deploy/chart/Chart.yaml',
  'deploy/chart/values.yaml',
  'deploy/chart/monitoring/alerts.yaml',
];
const [name, registry = `ghcr.io/${name?.toLowerCase()}`] = process.argv.slice(2);
if (!name || !/^[\w-]+$/.test(name)) {
  process.stderr.write('usage: npm run address -- NAME [REGISTRY]\n');
  process.exit(1);
}
const documents = (await readdir('docs', { recursive: true })).filter((file) => file.endsWith('.md'));
for (const file of [...FILES, ...documents.map((document) => `docs/${document}`)]) {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll('ghcr.io/OWNER', registry).replaceAll('/OWNER/', `/${name}/`));
}
