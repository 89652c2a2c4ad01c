import { NODE_PORT_KEYWORDS } from '../../domain/node/node-addresses.js';
import { LEVELS, type KubernetesVersion } from './levels.js';
import { cidrProblem, invalid } from './schema/field-rule.js';

const PATH = 'NodePortAddresses';
const VALID_CIDR = 'must be a valid CIDR';
const NOT_ALONE = "can't use both 'primary' and CIDRs";

/** What is wrong with `nodePortAddresses` (docs/spec/configuration.md §4.2, docs/spec/changes-1.37.md §1). */
export function nodePortAddressesProblems(
  values: readonly string[],
  version: KubernetesVersion,
): readonly string[] {
  return LEVELS[version].nodePortAddresses === 'any mix'
    ? cidrProblems(values, NODE_PORT_KEYWORDS)
    : primaryOrCidrs(values);
}

/** CIDRs, or `primary` alone; where it is not alone, checking ends. */
function primaryOrCidrs(values: readonly string[]): readonly string[] {
  const primary = values.length > 1 ? values.indexOf('primary') : -1;
  if (primary < 0) return cidrProblems(values, ['primary']);
  return [...cidrProblems(values.slice(0, primary)), invalid(`${PATH}[${primary}]`, 'primary', NOT_ALONE)];
}

function cidrProblems(values: readonly string[], keywords: readonly string[] = []): readonly string[] {
  return values.flatMap((value, index) =>
    keywords.includes(value) ? [] : cidrProblem(PATH, value, index, VALID_CIDR),
  );
}
