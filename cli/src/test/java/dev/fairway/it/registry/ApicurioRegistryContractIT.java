package dev.fairway.it.registry;

/** The contract, held by Apicurio: it is not ours alone. */
class ApicurioRegistryContractIT extends RegistryContract {

  @Override
  String url() {
    return ApicurioRegistry.url();
  }
}
