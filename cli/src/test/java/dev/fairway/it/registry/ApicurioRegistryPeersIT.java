package dev.fairway.it.registry;

/** Foreign clients over Apicurio. */
class ApicurioRegistryPeersIT extends RegistryPeersContract {

  @Override
  String url() {
    return ApicurioRegistry.url();
  }
}
