// Command kubelet is the upstream kubelet over a runtime, a cAdvisor and mounts that are empty, as kubemark runs it:
// its page of metrics is recorded. Flags: kubeconfig, name, port (of /metrics, read-only, on loopback).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	remote "k8s.io/cri-client/pkg"
	fakeremote "k8s.io/cri-client/pkg/fake"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "")
	name := flag.String("name", "", "")
	port := flag.Int("port", 0, "")
	flag.Parse()
	if err := run(context.Background(), *kubeconfig, *name, *port); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, name string, port int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	flags, settings := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName: name, KubeletPort: port + 1, KubeletReadOnlyPort: port, MaxPods: 110,
	})
	settings.Address = "127.0.0.1"
	endpoint, err := fakeremote.GenerateEndpoint()
	if err != nil {
		return err
	}
	runtime := fakeremote.NewFakeRemoteRuntime()
	if err := runtime.Start(endpoint); err != nil {
		return err
	}
	defer runtime.Stop()
	service, err := remote.NewRemoteRuntimeService(ctx, endpoint, 15*time.Second, noop.NewTracerProvider(), false)
	if err != nil {
		return err
	}
	manager := cm.NewStubContainerManagerWithDevicePluginResource(
		v1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")},
	)
	cadvisor := &cadvisortest.Fake{NodeName: name}
	kubemark.NewHollowKubelet(
		flags, settings, client, client, cadvisor, runtime.ImageService, service, manager,
	).Run(ctx)
	return nil
}
