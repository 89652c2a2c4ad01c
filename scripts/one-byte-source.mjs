import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes what esbuild makes with nothing but ASCII in it. While a program runs V8 keeps its source, with two bytes for each
 * character as soon as a single one is not Latin. esbuild escapes such characters itself, except in regular expressions and
 * comments, where an escape is right too. A file that is there already is replaced as a whole.
 */
export const oneByteSource = {
  name: 'one-byte-source',
  setup(build) {
    build.initialOptions.write = false;
    build.onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(`${path}.new`, /\.m?js$/.test(path) ? text.replace(/[^\0-\x7f]/g, escaped) : text);
        await rename(`${path}.new`, path);
      }
    });
  },
};

function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
