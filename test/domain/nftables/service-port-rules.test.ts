import { sameElement } from '../../../src/domain/nftables/state/service-port-rules.js';

describe('an element', () => {
  const element = { key: '10.96.0.1 . tcp . 80', value: '8000:1', comment: 'shop/cart:http', digest: 1 };
  const { digest: _, ...withoutDigest } = element;

  it.each([element, withoutDigest])('is the same as %j', (other) => {
    expect([sameElement(element, other), sameElement(other, element)]).toEqual([true, true]);
  });

  it.each([
    { ...element, key: '10.96.0.1 . udp . 80' },
    { ...element, value: '8000:2' },
    { ...element, comment: 'shop/pay:http' },
    { ...element, digest: 2 },
  ])('is another one than %j', (other) => {
    expect([sameElement(element, other), sameElement(other, element)]).toEqual([false, false]);
  });
});
