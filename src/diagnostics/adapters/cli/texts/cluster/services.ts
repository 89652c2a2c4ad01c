import { inToneOf } from '../../output/tones.js';
import type { ClusterService, ClusterServices } from '../../../../application/cluster/cluster-services.js';
import { troubleWord } from '../../../../application/words/state-words.js';
import { columns } from '../../output/columns.js';
import { grouped } from './grouped-nodes.js';

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'PROGRAMMED', 'OTHERWISE'];

/** One line a Service. */
export function clusterServicesLines({ services }: ClusterServices): readonly string[] {
  return columns(HEADERS, services.map(cells));
}

function cells({ namespace, name, type, listed, programmed, others }: ClusterService): readonly string[] {
  const otherwise = grouped('on', others, ({ state, held, reason }) => {
    const word = inToneOf(state, troubleWord({ state, held }));
    return reason === undefined ? word : `${word}: ${reason}`;
  });
  return [namespace, name, type ?? '-', `${programmed}/${listed}`, otherwise.join('; ')];
}
