import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { NODE_ADDRESS } from './network.mjs';

/** Every address at which the Services of the folder can be reached from outside. A file that does not parse is left out. */
export function readTargets(folder) {
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .flatMap((name) => parse(join(folder, name)))
    .filter((object) => object?.kind === 'Service')
    .flatMap(targetsOf);
}

/** The main example first. */
function rank(name) {
  return name.startsWith('web.') ? 0 : 1;
}

function parse(file) {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'));
  return documents.some((document) => document.errors.length > 0)
    ? []
    : documents.map((document) => document.toJS());
}

function targetsOf({ metadata, spec }) {
  return (spec?.ports ?? []).flatMap(({ port, nodePort, protocol = 'TCP' }) => {
    if (protocol !== 'TCP') return [];
    const targets = [];
    if (spec.clusterIP?.includes('.')) {
      targets.push({ service: metadata.name, kind: 'cluster IP', address: `${spec.clusterIP}:${port}` });
    }
    if (nodePort)
      targets.push({ service: metadata.name, kind: 'node port', address: `${NODE_ADDRESS}:${nodePort}` });
    return targets;
  });
}
