import { AwaitNode, CLUSTER_TIMEOUTS, NO_WAIT } from '../../application/node/await-node.js';
import { CheckNode } from '../../application/node/check-node.js';
import { NodeContexts } from '../../application/node/node-contexts.js';
import {
  AWAIT_NODE,
  CHECK_NODE,
  CLOCK,
  CLUSTER_STATE,
  COMMAND_LINE,
  FAMILIES,
  LOCAL_ADDRESSES,
  LOGGER,
  NODE_CONTEXTS,
  NODE_TIMEOUTS,
} from '../identifiers.js';
import { provide, type Module } from '../injection/provider.js';
import { checkedSettings, nodeSettings } from '../node/node-settings.js';

/** What this node's Node object says, and how long it is waited for. */
export const nodeModule: Module = [
  provide(
    CHECK_NODE,
    { commandLine: COMMAND_LINE, families: FAMILIES, state: CLUSTER_STATE, logger: LOGGER },
    ({ commandLine, families, state, logger }) =>
      new CheckNode(
        checkedSettings(commandLine),
        families,
        () => state.node,
        logger.child({ caller: 'check-node' }),
      ),
  ),
  provide(NODE_TIMEOUTS, { commandLine: COMMAND_LINE }, ({ commandLine }) =>
    commandLine.manifests.length > 0 ? NO_WAIT : CLUSTER_TIMEOUTS,
  ),
  provide(
    AWAIT_NODE,
    {
      commandLine: COMMAND_LINE,
      timeouts: NODE_TIMEOUTS,
      state: CLUSTER_STATE,
      check: CHECK_NODE,
      clock: CLOCK,
      logger: LOGGER,
    },
    ({ commandLine, timeouts, state, check, clock, logger }) =>
      new AwaitNode(
        commandLine.nodeName,
        commandLine.configuration.detectLocalMode === 'NodeCIDR',
        timeouts,
        () => state.node,
        check,
        clock,
        logger.child({ caller: 'await-node' }),
      ),
  ),
  provide(
    NODE_CONTEXTS,
    { commandLine: COMMAND_LINE, state: CLUSTER_STATE, localAddresses: LOCAL_ADDRESSES, logger: LOGGER },
    ({ commandLine, state, localAddresses, logger }) =>
      new NodeContexts(
        nodeSettings(commandLine),
        state,
        localAddresses,
        logger.child({ caller: 'node-contexts' }),
      ),
  ),
];
