import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/**
 * The certificates in a PEM file. Unreadable ones are ignored, as in Go. Node would silently ignore all certificates after
 * an unreadable one, and trust no server if there is none.
 */
export function certificatesIn(pem: string): readonly string[] {
  return (pem.match(CERTIFICATE) ?? []).filter(isCertificate);
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
