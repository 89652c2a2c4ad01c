// Writes the bill of materials of an image, as SPDX and as a list of licenses: node bill-of-materials.mjs ROOT DEBIAN NPM
// DEBIAN: a file with the names of the Debian packages' archives. NPM: a folder with packages that npm installed.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [root, debianList, npmFolder] = process.argv.slice(2);
const { name, version, license } = JSON.parse(await readFile('package.json', 'utf8'));
const created = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? '0') * 1000);

const own = { kind: 'npm', name, version, license };
const bundled = JSON.parse(await readFile('dist/bundled-packages.json', 'utf8'));
const packages = [
  ...(await debianPackages()),
  ...[own, ...bundled, ...(await installedPackages())].map(ofNpm),
];

const folder = join(root, 'usr/share/doc/kube-proxy-ts');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, 'sbom.spdx.json'), `${JSON.stringify(document(), undefined, 1)}\n`);
await writeFile(join(folder, 'LICENSES'), licenses());

function ofNpm(one) {
  return { ...one, kind: 'npm', url: `pkg:npm/${one.name.replace('@', '%40')}@${one.version}` };
}

/** `libc6_2.41-12_amd64.deb`, with the epoch's colon as `%3a`. */
async function debianPackages() {
  const archives = (await readFile(debianList, 'utf8')).split('\n').filter((line) => line.endsWith('.deb'));
  return Promise.all(
    archives.sort().map(async (archive) => {
      const [name, escaped, architecture] = archive.slice(0, -'.deb'.length).split('_');
      const version = decodeURIComponent(escaped);
      const url = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
      return { kind: 'deb', name, version, url, license: await debianLicense(name) };
    }),
  );
}

/** The short names in a machine-readable copyright file; otherwise, where it is to be read. */
async function debianLicense(name) {
  const place = `usr/share/doc/${name}/copyright`;
  const text = await readFile(join(root, place), 'utf8').catch(() => '');
  const names = [...text.matchAll(/^License: *(\S.*)$/gm)].map(([, license]) => license.trim());
  return names.length > 0 ? [...new Set(names)].sort().join(', ') : `see /${place}`;
}

async function installedPackages() {
  const modules = join(npmFolder, 'node_modules');
  const names = await readdir(modules);
  const scoped = await Promise.all(
    names
      .filter((name) => name.startsWith('@'))
      .map(async (scope) => (await readdir(join(modules, scope))).map((name) => `${scope}/${name}`)),
  );
  const plain = names.filter((name) => /^[a-z]/.test(name));
  return Promise.all(
    [...plain, ...scoped.flat()].sort().map(async (folder) => {
      const { name, version, license } = JSON.parse(
        await readFile(join(modules, folder, 'package.json'), 'utf8'),
      );
      return { name, version, license: license ?? 'MIT' };
    }),
  );
}

function document() {
  const hash = createHash('sha256').update(JSON.stringify(packages)).digest('hex');
  const ids = packages.map(({ kind, name, version }) =>
    `SPDXRef-${kind}-${name}-${version}`.replace(/[^A-Za-z0-9.-]/g, '-'),
  );
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}-${version}-image`,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${hash}`,
    creationInfo: {
      created: created.toISOString().replace('.000Z', 'Z'),
      creators: ['Tool: deploy/image/bill-of-materials.mjs'],
    },
    packages: packages.map(({ kind, name, version, license, url }, index) => ({
      SPDXID: ids[index],
      name,
      versionInfo: version,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      // Debian's names of licenses are not those of SPDX.
      licenseDeclared: kind === 'npm' ? license : 'NOASSERTION',
      ...(kind === 'deb' && { licenseComments: license }),
      copyrightText: 'NOASSERTION',
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: url }],
    })),
    relationships: ids.map((id) => ({
      spdxElementId: 'SPDXRef-DOCUMENT',
      relationshipType: 'DESCRIBES',
      relatedSpdxElement: id,
    })),
  };
}

function licenses() {
  return packages
    .map(({ kind, name, version, license }) => `${kind}\t${name}\t${version}\t${license}\n`)
    .join('');
}
