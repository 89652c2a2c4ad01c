import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { NODE_ADDRESS } from './network.mjs';

/** Every address at which the Services of the folder can be reached from outside. A file that does not parse is ignored. */
export function readTargets(folder) {
  return readdirSync(folder)
    .filter(isManifest)
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
    .flatMap((name) => parse(join(folder, name)))
    .filter((object) => object?.kind === 'Service' && object.metadata?.name)
    .flatMap(targetsOf);
}

export function isManifest(name) {
  return /^[^.].*\.ya?ml$/.test(name);
}

/** The main example first. */
function rank(name) {
  return name.startsWith('web.') ? 0 : 1;
}

/** Empty while a file does not parse, or is being replaced. */
function parse(file) {
  try {
    return parseAllDocuments(readFileSync(file, 'utf8'))
      .filter(({ errors }) => errors.length === 0)
      .map((document) => document.toJS());
  } catch {
    return [];
  }
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
