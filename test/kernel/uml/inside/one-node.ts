import './api-server-address.js';
import './check-forwarding.js';
import { after, before, describe } from 'node:test';
import { nightly } from '../../../support/nightly.js';
import { connectionTests, modeTests } from './connections.js';
import { IpvsNode } from './ipvs-node.js';
import { endTests, startTests } from './node.js';

/** The real program in mode ipvs on one node, from its start until nothing is left of it. The tests follow each other. */
describe('a node in mode ipvs', () => {
  const node = new IpvsNode();
  before(() => node.open());
  after(() => node.close());

  startTests(node);
  describe('connections', () => connectionTests(node));
  endTests(node);
  // Last, since it sets sysctls, and removes virtual servers of others.
  if (nightly) describe('other modes', () => modeTests(node));
});
