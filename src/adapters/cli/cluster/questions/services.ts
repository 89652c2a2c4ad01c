import { servicesAnswer } from '../../../../application/status/service-row.js';
import { silentOf } from '../../../../application/cluster/ask-nodes.js';
import {
  ServicesSum,
  type ClusterService,
  type ClusterServices,
} from '../../../../application/cluster/cluster-services.js';
import { grouped } from '../../texts/grouped-nodes.js';
import type { RowFilter, ServiceList } from '../../../../application/status/service-row.js';
import { columns } from '../../output/columns.js';
import type { NodesQuestion } from '../nodes-question.js';

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'PROGRAMMED', 'OTHERWISE'];

/** 0 when all nodes that list a Service have programmed it, all names are known, and all nodes answer; otherwise 1. */
export function servicesQuestion(filter: RowFilter): NodesQuestion<ServiceList, void, ClusterServices> {
  const { namespace, names, failing, withoutEndpoints } = filter;
  const sum = new ServicesSum();
  return {
    words: [
      'services',
      ...names,
      ...(namespace === undefined ? [] : ['-n', namespace]),
      ...(failing ? ['--failing'] : []),
      ...(withoutEndpoints ? ['--without-endpoints'] : []),
      '-o',
      'json',
    ],
    shape: servicesAnswer,
    keep: (answer, node) => sum.add(node, answer),
    result: (replies) => sum.result(silentOf(replies)),
    text: servicesText,
    exitCode: ({ services, unknown, silent }) =>
      unknown.length + silent.length > 0 || services.some(({ others }) => others.length > 0) ? 1 : 0,
  };
}

function servicesText({ services, silent }: ClusterServices): string {
  const table = columns(HEADERS, services.map(cells));
  return (
    table +
    grouped('no answer', silent, ({ reason }) => reason)
      .map((line) => `${line}\n`)
      .join('')
  );
}

function cells({ namespace, name, type, listed, programmed, others }: ClusterService): readonly string[] {
  const said = new Map<string, { readonly node: string }[]>();
  for (const { node, state, reason } of others) {
    const text = `${state.replace('-', ' ')}${reason === undefined ? '' : `: ${reason}`}`;
    const nodes = said.get(text);
    if (nodes) nodes.push({ node });
    else said.set(text, [{ node }]);
  }
  const otherwise = [...said].flatMap(([text, nodes]) => grouped('on', nodes, () => text));
  return [namespace, name, type ?? '-', `${programmed}/${listed}`, otherwise.join('; ')];
}
