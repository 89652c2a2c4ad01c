import { readFile } from 'node:fs/promises';

/** The path of a package's folder at the beginning of the path of a file of it. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** The npm packages of which code is in these bundles, by esbuild's accounts of them, sorted. */
export async function bundledPackages(accounts) {
  const folders = new Set(
    accounts
      .flatMap(({ outputs }) => Object.values(outputs))
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => PACKAGE.exec(file)?.[0])
      .filter((folder) => folder !== undefined),
  );
  const packages = await Promise.all([...folders].map(packageIn));
  return packages.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** The npm package in a folder: name, version, license and the folder. */
export async function packageIn(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  return { name, version, license, folder };
}
