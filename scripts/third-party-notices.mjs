import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Files in which packages keep their licenses and notices, and those of code that they have taken over. */
const NOTICE = /^(licen[cs]e|copying|copyright|notice)[^.]*(\.(md|txt|markdown))?$/i;

const INTRODUCTION = `The program contains code of the npm packages below, or comes with them.
Each is named with its license, and followed by the license and the notices that it came with.
Those of koffi are also those of its shared library, the package @koromix/koffi-linux-*.`;

const LINE = '='.repeat(100);

/** The licenses and notices of npm packages as one text. @throws Error naming the packages that have none */
export async function thirdPartyNotices(packages) {
  const sections = await Promise.all(packages.map(section));
  const silent = packages.filter((_, index) => sections[index] === undefined);
  if (silent.length > 0) {
    const names = silent.map(({ name, version, folder }) => `${name} ${version} (${folder})`).join(', ');
    throw new Error(`no license file in ${names}: a package without one cannot be distributed; replace it`);
  }
  return [INTRODUCTION, ...sections].join(`\n\n${LINE}\n`);
}

async function section({ name, version, license, folder }) {
  const files = (await readdir(folder, { recursive: true })).filter(
    (path) => NOTICE.test(basename(path)) && !path.includes('node_modules/'),
  );
  if (files.length === 0) return undefined;
  const texts = await Promise.all(files.sort().map((path) => readFile(join(folder, path), 'utf8')));
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim())].join('\n\n');
}
