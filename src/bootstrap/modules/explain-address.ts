import { ExplainAddress } from '../../application/explain/explain-address.js';
import { ExplainPort } from '../../application/explain/explain-port.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import {
  CLUSTER_EVENTS,
  CLUSTER_STATE,
  COMMAND_LINE,
  EXPLAIN_ADDRESS,
  LOCAL_ADDRESSES,
  NODE_CONTEXTS,
  SERVED_FAMILIES,
  SERVICE_STATUSES,
} from '../identifiers.js';
import { provide } from '../injection/provider.js';

/** Tells whose an address is, for people who ask about it or about packets to it. */
export const explainAddress = provide(
  EXPLAIN_ADDRESS,
  {
    commandLine: COMMAND_LINE,
    state: CLUSTER_STATE,
    statuses: SERVICE_STATUSES,
    events: CLUSTER_EVENTS,
    families: SERVED_FAMILIES,
    contexts: NODE_CONTEXTS,
    addresses: LOCAL_ADDRESSES,
  },
  ({ commandLine, state, statuses, events, families, contexts, addresses }) =>
    new ExplainAddress(
      new ExplainPort(state, statuses),
      state,
      families.map(({ loop }) => loop),
      {
        mode: modeInForce(commandLine.configuration),
        isListed: () => events.missing.length === 0,
        network: (family) => contexts.of(family, false).network,
        localAddresses: () => addresses.list(),
      },
    ),
);
